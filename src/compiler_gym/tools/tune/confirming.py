# SPDX-License-Identifier: MIT
"""Compare a result with the baseline in a held-out run.

A result looks better than it is in the run that it was tuned for.
"""

import time
from dataclasses import replace

from compiler_gym.tools.tune.runs import FEWEST_CONFIRMING, as_speed, compare_in_turns
from compiler_gym.tools.tune.tuner import Found, TuningSubject

_ROUNDS = 10
_PREFIX = "confirm_"


def confirm_result(found: Found, subject: TuningSubject) -> Found:
    """Return `found` with its speed in the held-out run; a loss comes first in its notes."""
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
