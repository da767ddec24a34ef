# SPDX-License-Identifier: MIT
"""Measure the speed of a result again: without its reverted decisions, and in a held-out run.

A result looks better than it is in the run that it was tuned for.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from compiler_gym.tools.tune.runs import FEWEST_CONFIRMING, as_speed, compare_in_turns
from compiler_gym.tools.tune.tuner import Found, TuningSubject

_ROUNDS = 10
_PREFIX = "confirm_"


def confirm_result(
    found: Found, subject: TuningSubject, is_well: Callable[[Path], bool] = lambda path: True
) -> Found:
    """Return `found` with its measured speed, or the baseline if that is no slower and `is_well`.

    A loss in the held-out run comes first in its notes.
    """
    if found.taken_back and found.speed:
        found = _time_again(found, subject, is_well)
    return _run_held_out(found, subject)


def _time_again(found: Found, subject: TuningSubject, is_well: Callable[[Path], bool]) -> Found:
    assert subject.run is not None
    name, fair = list(found.rivals.items())[-1]
    result, _ = compare_in_turns(subject.run, fair, found.path, _ROUNDS)
    speed = {"speedup": result.speedup, "low": result.low, "high": result.high}
    is_speed = not subject.goal.counts_bytes and found.rival_plan is not None
    if not is_speed or result.low > 1 or found.path == fair or not is_well(fair):
        return replace(found, speed=speed)
    note = f"the build that passes the tests is not significantly faster: the result is {name}"
    return replace(
        found,
        plan=found.rival_plan or found.plan,
        path=fair,
        notes=(*found.notes, note),
        speed={"speedup": 1.0, "low": 1.0, "high": 1.0},
    )


def _run_held_out(found: Found, subject: TuningSubject) -> Found:
    run, rivals = subject.confirm, list(found.rivals.items())
    if run is None or not rivals or found.path == rivals[-1][1]:
        return found
    name, fair = rivals[-1]
    began = time.monotonic()
    run.run(fair)
    pair = 2 * (time.monotonic() - began)
    seconds_left = subject.allowance.seconds_left
    rounds = int(max(min(_ROUNDS, seconds_left / pair), FEWEST_CONFIRMING))
    result, _ = compare_in_turns(run, fair, found.path, rounds)
    found = replace(found, speed={**found.speed, **as_speed(result, _PREFIX)})
    verdict = (
        f"held-out run {run.text}: {result.speedup:.3f} times as fast as {name} "
        f"(95 % interval {result.low:.3f} to {result.high:.3f})"
    )
    if result.speedup < 1:
        sure = "slower" if result.high < 1 else "perhaps slower"
        return replace(found, notes=(f"{sure} in the {verdict}", *found.notes))
    return replace(found, notes=(*found.notes, verdict))
