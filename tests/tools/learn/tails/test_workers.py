# SPDX-License-Identifier: MIT
"""Calls in other processes, some of which fail, crash or hang."""

import os
import time

from compiler_gym.errors import PipelineError
from compiler_gym.tools.learn.tails.workers import call_each


def act(number: int) -> int:
    if number == 1:
        raise PipelineError("no such pass")
    if number == 2:
        os.abort()
    if number == 3:
        time.sleep(600)
    return 10 * number


def test_calls_that_fail_crash_or_hang_have_no_result_and_others_keep_theirs():
    calls = [(number,) for number in range(6)]
    assert list(call_each(act, calls, jobs=2, seconds=2)) == [0, None, None, None, 40, 50]
