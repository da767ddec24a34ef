# SPDX-License-Identifier: MIT
"""Times that somebody else has seen: the policy of a submission is run again.

A replay shows that a command line reaches a cost, and not how long it took to find
it, nor with how many compilations: those are claims. Whoever keeps a leaderboard
runs the policy again, under the task's own limit, and notes it beside the results:

    leaderboard/TASK/NAME/rerun.json    which results, on which machine, in what time

The note holds for those results alone: where they change, it counts no more.
"""

import hashlib
import json
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from compiler_gym.files import write_whole
from compiler_gym.leaderboard.evaluation import Outcome, Policy, evaluate
from compiler_gym.leaderboard.task import Task
from compiler_gym.validation import ValidationError

__all__ = ["has_note", "note_rerun", "rerun_errors"]

_NOTE = "rerun.json"
_COST_MARGIN = 0.02
"""By how much, as a share, a policy that is run again may end with a higher cost."""
_SLOWER, _SLACK = 2.0, 1.0
"""What it took may be this multiple of what was claimed, and so many seconds more."""


def rerun_errors(
    policy: Callable[[], Policy], task: Task, outcomes: Sequence[Outcome]
) -> Iterator[ValidationError]:
    """Run a policy again on the programs of `outcomes` and yield what was not reproduced.

    `policy` makes the policy anew, so that nothing is kept between repetitions. Each is
    given the task's limit on this machine: it has to end in time, not take more than
    twice what was claimed, and reach the cost to 2 %.
    """
    for repetition in sorted({outcome.repetition for outcome in outcomes}):
        claimed = {o.state.benchmark: o for o in outcomes if o.repetition == repetition}
        once = replace(task, repetitions=1, seed=task.seed + repetition)
        try:
            found = evaluate(policy(), once, programs=list(claimed)).outcomes
        except Exception as error:  # its code is somebody else's
            yield ValidationError(
                "the policy cannot be run again", {"error": f"{type(error).__name__}: {error}"}
            )
            return
        for again in found:
            yield from _not_reproduced(task, claimed[again.state.benchmark], again)


def note_rerun(folder: Path, results: Path, outcomes: Sequence[Outcome]) -> None:
    """Note beside `results` that every one of `outcomes` was reproduced here."""
    note = {
        "results": _digest(results),
        "machine": f"{platform.machine()}, {platform.system()} {platform.release()}",
        "episodes": len(outcomes),
    }
    write_whole(folder / _NOTE, (json.dumps(note, indent=2) + "\n").encode())


def has_note(folder: Path, results: Path) -> bool:
    """Return whether these results were reproduced, as they are now."""
    try:
        note: Any = json.loads((folder / _NOTE).read_text(encoding="utf-8"))
        if not isinstance(note, dict):
            return False
        return cast("dict[str, Any]", note).get("results") == _digest(results)
    except (OSError, ValueError, RecursionError):
        return False


def _not_reproduced(task: Task, claimed: Outcome, again: Outcome) -> Iterator[ValidationError]:
    facts = {"benchmark": claimed.state.benchmark}
    if again.error != claimed.error:
        errors = {"claimed": claimed.error, "again": again.error}
        yield ValidationError("the policy ends in another way", facts | errors)
    seconds = task.limit.seconds
    late = seconds is not None and again.is_late
    if late or again.walltime > _SLOWER * claimed.walltime + _SLACK:
        times = {"claimed": claimed.walltime, "again": again.walltime, "limit": seconds}
        yield ValidationError("the time cannot be reproduced", facts | times)
    if again.found > claimed.found * (1 + max(_COST_MARGIN, task.tolerance)):
        costs = {"claimed": claimed.found, "again": again.found}
        yield ValidationError("the cost is not reached in the time", facts | costs)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
