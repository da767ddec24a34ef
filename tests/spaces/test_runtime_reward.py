# SPDX-License-Identifier: MIT
import copy
import statistics
from typing import Any

import pytest

from compiler_gym.errors import BenchmarkInitError, ObservationError
from compiler_gym.spaces import RuntimeReward


class View(dict[str, Any]):
    """An observation view that counts what it is asked."""

    asked = 0

    def __getitem__(self, name: str) -> Any:
        self.asked += name == "Runtime"
        return super().__getitem__(name)


def reward() -> RuntimeReward:
    return RuntimeReward(runtime_count=3, warmup_count=1, estimator=statistics.median)


def test_seconds_saved_are_earned() -> None:
    runtime = reward()
    assert runtime.name == "runtime"
    assert runtime.observation_spaces == ["Runtime"]
    assert runtime.default_negates_returns
    runtime.reset("benchmark://a/b", {"IsRunnable": True, "Runtime": [4.0, 2.0, 3.0]})
    assert runtime.update([1], [[2.0, 1.0, 9.0]], {}) == 1.0
    assert runtime.update([1], [[2.5, 2.5, 2.5]], {}) == -0.5


def test_the_program_is_measured_once_per_benchmark() -> None:
    runtime = reward()
    view = View(IsRunnable=True, Runtime=[1.0, 1.0, 1.0])
    for _ in range(3):
        runtime.reset("benchmark://a/b", view)
        assert runtime.update([1], [[0.5, 0.5, 0.5]], view) == 0.5
    assert view.asked == 1
    runtime.reset("benchmark://a/c", view)
    assert view.asked == 2


def test_a_program_that_cannot_run_is_refused_and_not_remembered() -> None:
    runtime = reward()
    with pytest.raises(BenchmarkInitError, match="benchmark://a/b cannot be run"):
        runtime.reset("benchmark://a/b", {"IsRunnable": False})
    runtime.reset("benchmark://a/b", {"IsRunnable": True, "Runtime": [1.0]})
    assert runtime.starting_runtime == 1.0


def test_a_wrong_number_of_times_is_reported() -> None:
    runtime = reward()
    runtime.reset("benchmark://a/b", {"IsRunnable": True, "Runtime": [1.0, 1.0, 1.0]})
    with pytest.raises(ObservationError, match="expected 3 runtimes, got 1"):
        runtime.update([1], [[1.0]], {})
    with pytest.raises(ObservationError, match="reset"):
        reward().update([1], [[1.0, 1.0, 1.0]], {})


def test_a_copy_goes_on_with_its_own_numbers() -> None:
    runtime = reward()
    runtime.reset("benchmark://a/b", {"IsRunnable": True, "Runtime": [3.0, 3.0, 3.0]})
    other = copy.deepcopy(runtime)
    runtime.update([1], [[1.0, 1.0, 1.0]], {})
    assert other.update([1], [[2.0, 2.0, 2.0]], {}) == 1.0
