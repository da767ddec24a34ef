# SPDX-License-Identifier: MIT
"""A wrong result is an error before anything is timed; what is timed is timed once."""

import pytest

from compiler_gym.envs.mlir.machine.measuring import Bench, bench_of
from compiler_gym.envs.mlir.programs.builders import build
from compiler_gym.errors import ObservationError
from envs.mlir.schedules import MATMUL


def test_a_module_that_computes_something_else_is_refused() -> None:
    other = build("add", (16, 16)).replace("arith.addf", "arith.subf")
    with pytest.raises(ObservationError, match="wrong by"):
        Bench(build("add", (16, 16))).median(other)


def test_a_median_is_measured_once() -> None:
    bench = bench_of(MATMUL)
    assert bench is bench_of(MATMUL)
    assert bench.median(MATMUL) == bench.median(MATMUL) == bench.naive() > 0
    assert bench.numpy() > 0
    assert bench.compile_seconds(MATMUL) > 0
    assert len(bench.times(MATMUL, 3, 0)) == 3
