# SPDX-License-Identifier: MIT
"""Seconds become GFLOPS, and what is not known is said."""

from math import inf

from compiler_gym_loop_tool.jit import Estimate
from compiler_gym_loop_tool.toolchain.timing import Timing


def test_a_slow_run_is_a_low_speed() -> None:
    facts = Timing(10**9, Estimate(0.5, 0.4, 0.8, (0.5,) * 5, 5, True), 2).facts()
    assert (facts["gflops"], facts["low"], facts["high"]) == (2.0, 1.25, 2.5)
    assert (facts["threads"], facts["runs"], facts["pinned"]) == (2, 5, True)


def test_a_single_run_has_no_interval() -> None:
    facts = Timing(10**9, Estimate(0.5, 0.0, inf, (0.5,), 1, False), 1).facts()
    assert (facts["gflops"], facts["low"], facts["high"], facts["noise"]) == (2.0, 0.0, None, None)
