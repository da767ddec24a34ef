# SPDX-License-Identifier: MIT
"""The peak of a thread is more than what any program of it reaches."""

from compiler_gym_mlir.programs.builders import build
from compiler_gym_mlir.toolchain.measuring import Bench
from compiler_gym_mlir.toolchain.peak import peak_gflops
from test_mlir.schedules import scheduled


def test_a_program_reaches_less_than_the_peak() -> None:
    source = build("matmul", (64, 64, 64))
    program = scheduled(source, "tile matmul0 4 16 4", "vectorize matmul0")
    gflops = 2 * 64**3 / (1e3 * Bench(source).median(program.text))
    assert 0 < gflops < 1.5 * peak_gflops()  # a busy machine measures either too low
    assert peak_gflops() == peak_gflops()
    assert peak_gflops("f64") < 1.5 * peak_gflops()
