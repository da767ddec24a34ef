# SPDX-License-Identifier: MIT
"""A wrong result is an error before anything is timed; what is timed is timed once."""

import pytest

from compiler_gym.errors import ObservationError
from compiler_gym_mlir.programs.builders import build
from compiler_gym_mlir.toolchain import measuring
from compiler_gym_mlir.toolchain.measuring import Bench, open_bench
from test_mlir.schedules import MATMUL


def test_a_module_that_computes_something_else_is_refused() -> None:
    other = build("add", (16, 16)).replace("arith.addf", "arith.subf")
    with pytest.raises(ObservationError, match="wrong by"):
        Bench(build("add", (16, 16))).median(other)


def test_a_median_is_measured_once() -> None:
    bench = open_bench(MATMUL)
    assert bench is open_bench(MATMUL)
    assert bench.median(MATMUL) == bench.median(MATMUL) == bench.naive() > 0
    assert bench.numpy() > 0
    assert bench.compile_seconds(MATMUL) > 0
    assert len(bench.times(MATMUL, 3, 0)) == 3


def test_an_unwritten_output_is_detected() -> None:
    source = build("add", (16, 16))
    bench = Bench(source)
    bench.compile_checked(source)  # whose right result is still where the next one is expected
    lazy = source.split("    %1 =")[0] + ("    return %0 : tensor<16x16xf32>\n  }\n}\n")
    with pytest.raises(ObservationError, match="wrong by"):
        bench.compile_checked(lazy)


def test_long_naive_code_is_estimated_from_some_of_its_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = build("matmul", (256, 96, 96))
    whole = Bench(source).naive()
    monkeypatch.setattr(measuring, "_MOST_ROUNDS", 256 * 96 * 96 // 8)
    estimate = Bench(source).naive()
    assert whole / 3 < estimate < whole * 3  # a busy machine; nearer than 1.1 on a quiet one


def test_a_slow_program_is_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "_SLOW", 0.0)
    source = build("add", (16, 16))
    bench = Bench(source)
    plain = source.replace("arith.addf %in0, %in1", "arith.addf %in1, %in0")
    assert bench.median(plain) == bench.median(plain) > 0
