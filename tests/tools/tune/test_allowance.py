# SPDX-License-Identifier: MIT
"""Time and compilations are counted, and none is used twice."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler_gym.errors import InvalidParameterError
from compiler_gym.tools.tune import Allowance


@given(st.integers(0, 100), st.lists(st.integers(0, 60), min_size=1, max_size=5))
def test_no_more_is_taken_than_there_is(total: int, wishes: list[int]) -> None:
    allowance = Allowance(compilations=total)
    taken = 0
    for wish in wishes:
        taken += len(allowance.take([None] * wish))
        assert allowance.compilations_left == total - taken
    assert taken <= total
    assert allowance.is_over == (taken == total)


def test_time_runs_from_the_beginning_of_the_work() -> None:
    allowance = Allowance(seconds=0.05)
    time.sleep(0.06)
    assert not allowance.is_over
    allowance.begin()
    time.sleep(0.06)
    assert allowance.is_over
    assert allowance.seconds_left == 0


def test_the_caller_can_stop_it() -> None:
    stopped = False
    allowance = Allowance(seconds=100, is_stopped=lambda: stopped)
    assert not allowance.is_over
    stopped = True
    assert allowance.is_over


@pytest.mark.parametrize("bounds", [{}, {"seconds": -1}, {"compilations": -1}])
def test_bounds_without_sense_are_refused(bounds: dict[str, int]) -> None:
    with pytest.raises(InvalidParameterError, match=r"needs a limit|at least 0"):
        Allowance(seconds=bounds.get("seconds"), compilations=bounds.get("compilations"))
