# SPDX-License-Identifier: MIT
"""Calls are timed in turns, with an interval that holds what is true."""

import math
import os
import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym_loop_tool.jit import (
    Call,
    compile_ir,
    estimate_in_turns,
    first_run,
    pin_thread,
)
from compiler_gym_loop_tool.jit.clocks import estimate


def work(iterations: int) -> Call:
    """A chain of sums that takes four cycles each, on any machine."""
    ir = f"""define void @work(ptr %buffers) {{
entry:
  %sink = load ptr, ptr %buffers
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
  %x = phi double [0.0, %entry], [%y, %loop]
  %y = fadd double %x, 1.0
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, {iterations}
  br i1 %more, label %loop, label %done
done:
  store double %y, ptr %sink
  ret void
}}"""
    return compile_ir(ir, level=None).on("work", [np.zeros(1)])


@pytest.mark.slow  # it judges by the clock
@pytest.mark.parametrize("threaded", [False, True])
def test_twice_the_work_takes_twice_as_long(threaded: bool) -> None:
    one, two = estimate_in_turns([work(20_000), work(40_000)], seconds=0.05, threaded=threaded)
    assert 1.5 < two.seconds / one.seconds < 2.7  # other processes share the core
    assert one.low <= one.seconds <= one.high
    assert one.runs >= len(one.samples) > 1
    assert one.noise < 1
    assert not (threaded and one.is_pinned)


def test_a_long_call_runs_once() -> None:
    (found,) = estimate_in_turns([work(2_000_000)], seconds=1e-6)
    assert (found.runs, len(found.samples)) == (1, 1)
    assert found.low == 0
    assert found.high == float("inf")


def test_a_short_call_is_repeated() -> None:
    (found,) = estimate_in_turns([work(10)], seconds=0.01)
    assert found.runs > len(found.samples) > 0


def test_the_time_of_a_first_run_is_reported_and_not_measured_again() -> None:
    call = work(200_000)
    seconds = first_run(call)
    assert 0 < seconds < 60
    (found,) = estimate_in_turns([call], seconds=1e-6, first=[seconds])
    assert found.samples == (seconds,)
    (found,) = estimate_in_turns([call], seconds=0.2, first=[None])
    assert found.runs > 1


def test_the_core_is_given_back() -> None:
    before = os.sched_getaffinity(0)
    with pin_thread() as is_pinned:
        assert not is_pinned or len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == before


def test_no_time_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="above 0"):
        estimate_in_turns([work(10)], seconds=0)


@dataclass
class Played:
    """Calls that take what is said, on a clock that is not looked at."""

    seconds: Sequence[float]
    noise: float = 0.0
    """The standard deviation of a sample, as a share."""
    seed: int = 0
    spent: float = 0.0
    runs: int = 0

    def __post_init__(self) -> None:
        self.draw = random.Random(self.seed)

    def __call__(self, rounds: int, repeats: Sequence[int]) -> list[list[float]]:
        found = [
            [one * math.exp(self.draw.gauss(0, self.noise)) for _ in range(rounds)]
            for one in self.seconds
        ]
        self.runs += rounds * sum(repeats)
        self.spent += sum(count * sum(times) for count, times in zip(repeats, found, strict=True))
        return found


def test_a_quiet_clock_is_believed_soon() -> None:
    turns = Played([2e-3], noise=0.002)
    (found,) = estimate(turns, [2.5e-3], seconds=1.0, noise=0.02)
    assert len(found.samples) == turns.runs == 3, "the first run is not made again"
    assert found.noise <= 0.02
    assert found.seconds == pytest.approx(2e-3, rel=0.01)


def test_a_noisy_clock_is_asked_until_the_interval_is_as_narrow_as_was_said() -> None:
    runs: list[int] = []
    for noise in (0.02, 0.05, 0.1):
        turns = Played([1e-3], noise=noise)
        (found,) = estimate(turns, [1e-3], seconds=10.0, noise=0.02)
        assert found.noise <= 0.02
        runs.append(found.runs)
    assert runs == sorted(set(runs))
    assert runs[-1] > 40, "at 10 % noise the mean of 40 samples is within 3 %"


def test_the_time_that_a_timing_may_take_ends_it() -> None:
    turns = Played([1e-3], noise=0.2)
    (found,) = estimate(turns, [1e-3], seconds=0.02, noise=0.001)
    assert found.runs <= 20
    assert turns.spent < 0.03
    assert found.noise > 0.001, "and what is not known is told"


def test_every_call_must_be_known() -> None:
    both = Played([1e-3, 1e-3], noise=0.0)
    both.draw = random.Random(1)

    def turns(rounds: int, repeats: Sequence[int]) -> list[list[float]]:
        quiet, noisy = both(rounds, repeats)
        return [quiet, [one * math.exp(both.draw.gauss(0, 0.1)) for one in noisy]]

    quiet, noisy = estimate(turns, [1e-3, 1e-3], seconds=10.0, noise=0.02)
    assert len(quiet.samples) == len(noisy.samples) > 20
    assert noisy.noise <= 0.02


def test_a_first_run_that_took_all_the_time_is_all_that_is_known() -> None:
    turns = Played([0.5, 1e-3])
    slow, fast = estimate(turns, [0.6, 2e-3], seconds=0.5, noise=0.02)
    assert (slow.samples, fast.samples, turns.runs) == ((0.6,), (2e-3,), 0)
    assert (slow.low, slow.noise) == (0, math.inf)


def test_short_calls_are_run_in_a_row() -> None:
    turns = Played([1e-6], noise=0.001)
    (found,) = estimate(turns, [5e-6], seconds=0.01, noise=0.02)
    assert len(found.samples) == 5
    assert found.runs / 5 * 1e-6 > 0.5e-4
    assert turns.spent < 2e-3


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    held = 0
    for seed in range(200):
        (found,) = estimate(Played([1e-3], 0.05, seed), [1e-3], seconds=0.1, noise=0.02)
        held += found.low <= 1e-3 <= found.high
    assert held > 0.85 * 200, "95 % at any one look, less where one stops at a lucky look"
