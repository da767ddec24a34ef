# SPDX-License-Identifier: MIT
"""Measure the speedup of one build over another with the user's own command.

Builds run alternately and only processor time counts, so that other load on the machine affects
all of them alike.
"""

import math
from pathlib import Path

from compiler_gym.tools.tune.measuring import RunCommand
from compiler_gym.validation import Comparison, compare_fastest

__all__ = ["FEWEST_CONFIRMING", "as_speed", "compare_in_turns"]

FEWEST_CONFIRMING = 5
"""The minimum number of rounds that confirm a result: fewer have no confidence interval."""


def compare_in_turns(
    run: RunCommand, baseline: Path, candidate: Path, rounds: int
) -> tuple[Comparison, float]:
    """Return the comparison of `candidate` with `baseline`, and the mean seconds of the latter."""
    before, after = run.alternate([baseline, candidate], rounds)
    return compare_fastest(before, after), sum(before) / len(before)


def as_speed(result: Comparison, prefix: str = "") -> dict[str, float]:
    """Return `result` as reports store it: ``speedup``, ``low`` and ``high``, after `prefix`.

    Too few runs have no interval: then ``low`` and ``high`` are absent.
    """
    speed = {"speedup": result.speedup}
    if math.isfinite(result.high):
        speed |= {"low": result.low, "high": result.high}
    return {f"{prefix}{name}": value for name, value in speed.items()}
