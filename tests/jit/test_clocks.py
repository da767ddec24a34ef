# SPDX-License-Identifier: MIT
"""Calls are timed in turns, with an interval that holds what is true."""

import os

import numpy as np
import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym.jit import Call, compile_ir, estimate_in_turns, pinned


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
    assert found.runs > 1000
    assert found.seconds < 1e-5


def test_the_core_is_given_back() -> None:
    before = os.sched_getaffinity(0)
    with pinned() as is_pinned:
        assert not is_pinned or len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == before


def test_no_time_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="more than 0"):
        estimate_in_turns([work(10)], seconds=0)
