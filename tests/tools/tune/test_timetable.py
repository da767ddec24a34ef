# SPDX-License-Identifier: MIT
"""The time of a tuning, from its start to its report."""

import math
import time
from pathlib import Path

import pytest

from compiler_gym.tools.tune import Request
from compiler_gym.tools.tune.timetable import Phase, Timetable

TIMES = {Phase.BUILD: 10.0, Phase.TEST: 8.0, Phase.RUN: 1.0}


class Clock:
    """A clock that the test sets."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def timetable(clock: Clock, seconds: float, **options: object) -> Timetable:
    """Return a timetable whose project is built, tested and run."""
    made = Timetable(Request(("make",), Path("p"), seconds=seconds, **options))  # type: ignore[arg-type]
    for phase, took in TIMES.items():
        with made.measure(phase):
            clock.now += took
    return made


def test_the_time_runs_from_the_start(clock: Clock) -> None:
    made = timetable(clock, 100.0)
    assert made.took == TIMES
    assert 79 <= made.seconds_left <= 81
    assert made.explain_excess() == ""


def test_what_comes_after_the_search_is_predicted_from_what_came_before(clock: Clock) -> None:
    made = timetable(clock, 100.0)
    test, run, gains = 4.0, 1.0, 10.0
    assert made.predict_judging() == test + run + gains
    assert made.seconds_to_rebuild == 20.0
    assert timetable(clock, 40.0).seconds_to_rebuild == 10.0
    small = Timetable(Request(("make",), Path("p"), seconds=100.0))
    assert small.seconds_to_rebuild == 6.0  # a plan takes seconds to read
    confirmed = timetable(clock, 100.0, confirm="x")
    assert confirmed.predict_judging() == test + 6 * run + gains


def test_a_limit_that_is_too_short_is_reported_before_and_after(clock: Clock) -> None:
    made = timetable(clock, 60.0)
    after = made.predict_judging() + made.seconds_to_rebuild
    said = made.describe_plan(made.seconds_left, after)
    assert "cannot be shortened and will take about 41 s" in said
    clock.now += 45.0
    excess = made.explain_excess()
    assert excess.startswith("took 64 s instead of 60 s: ")
    assert excess.endswith(": building the project 10 s, testing the original build 8 s, "
                           "running the program 1 s")  # fmt: skip


def test_a_long_limit_leaves_most_of_it_to_the_search(clock: Clock) -> None:
    made = timetable(clock, 600.0)
    after = made.predict_judging() + made.seconds_to_rebuild
    said = made.describe_plan(made.seconds_left, after)
    assert said.startswith(f": {made.seconds_left - after:.0f} s for ")
    assert f"then about {after:.0f} s to test" in said


def test_compilations_alone_have_no_timetable(clock: Clock) -> None:
    made = Timetable(Request(("make",), Path("p"), compilations=5))
    clock.now += 1e6
    assert math.isinf(made.seconds_left)
    assert made.describe_plan(math.inf, 0.0) == made.explain_excess() == ""
