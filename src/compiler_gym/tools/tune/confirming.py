# SPDX-License-Identifier: MIT
"""Judge a result by a run that nothing was chosen by.

Who is judged by what it was trained on looks better than it is.
"""

import time
from dataclasses import replace

from compiler_gym.tools.tune.comparing import FEWEST_CONFIRMING, as_speed, compare_in_turns
from compiler_gym.tools.tune.tuner import Found, TuningSubject

__all__ = ["confirm_result"]

_ROUNDS = 10
_PREFIX = "confirm_"


def confirm_result(found: Found, subject: TuningSubject) -> Found:
    """Return `found` with its speed in the run that confirms it; first in its notes if it loses."""
    run, rivals = subject.confirm, list(found.rivals.items())
    if run is None or not rivals or found.path == rivals[-1][1]:
        return found
    name, fair = rivals[-1]
    began = time.monotonic()
    run.run(fair)
    pair = 2 * (time.monotonic() - began)
    left = subject.allowance.seconds_left
    rounds = int(max(min(_ROUNDS, left / pair), FEWEST_CONFIRMING))
    result, _ = compare_in_turns(run, fair, found.path, rounds)
    found = replace(found, speed={**found.speed, **as_speed(result, _PREFIX)})
    said = (
        f"{run.text}, which nothing was chosen by: {result.speedup:.3f} times as fast as {name}, "
        f"between {result.low:.3f} and {result.high:.3f}"
    )
    if result.speedup < 1:
        sure = "slower there" if result.high < 1 else "perhaps slower there"
        return replace(found, notes=(f"{sure}: {said}", *found.notes))
    return replace(found, notes=(*found.notes, said))
