# SPDX-License-Identifier: MIT
"""Times that somebody else has seen: the policy of a submission is run again.

A replay shows that a command line reaches a cost, and not how long it took to find
it, nor with how many compilations: those are claims. Whoever keeps a leaderboard
runs the policy again, under the task's own limit, and notes what was measured then:

    leaderboard/reruns.json    by submission: of which results, on which machine, in what time

The notes are the keeper's. They lie beside the tasks, where a submission has no files, or in the
keeper's own data for a submission of no leaderboard; nothing in a submission's folder is read as
one. Each holds for the digest of what was verified alone: where that changes, it counts no more.
"""

import os
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from compiler_gym.errors import StateFileError
from compiler_gym.files import read_regular, site_data_path, write_whole
from compiler_gym.tools.learn.leaderboard.evaluation import Outcome, Policy, evaluate
from compiler_gym.tools.learn.leaderboard.task import LeaderboardTask
from compiler_gym.validation import ValidationError

__all__ = ["Rerun", "find_rerun", "note_rerun", "rerun_errors"]

_NOTES = "reruns.json"
_COST_MARGIN = 0.02
"""By how much, as a share, a policy that is run again may end with a higher cost."""
_MOST_RATIO, _SLACK = 2.0, 1.0
"""What it took may be this multiple of what was claimed, and so many seconds more."""


class Rerun(msgspec.Struct, frozen=True):
    """What the keeper of a leaderboard measured when a policy was run again."""

    submission: str
    """The digest of what was reproduced: the task, the facts and the results."""
    machine: str
    episodes: int
    seconds: float | None = None
    """The mean wall time per program, as it was measured then; None in notes older than this."""
    compilations: float | None = None
    """The mean number of actions applied per program."""


def rerun_errors(
    policy: Callable[[], Policy],
    task: LeaderboardTask,
    outcomes: Sequence[Outcome],
    watch: Callable[[Outcome], None] = lambda outcome: None,
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
            found = evaluate(policy(), once, programs=list(claimed), watch=watch).outcomes
        except Exception as error:  # its code is somebody else's
            yield ValidationError(
                "the policy cannot be run again", {"error": f"{type(error).__name__}: {error}"}
            )
            return
        for again in found:
            yield from _not_reproduced(task, claimed[again.state.benchmark], again)


def note_rerun(root: Path | None, folder: Path, digest: str, outcomes: Sequence[Outcome]) -> None:
    """Note that the submission of `digest` in `folder` was reproduced here, by `outcomes`."""
    file, place = _find_notes(root, folder)
    count = len(outcomes)
    note = Rerun(
        submission=digest,
        machine=f"{platform.machine()}, {platform.system()} {platform.release()}",
        episodes=count,
        seconds=round(sum(outcome.walltime for outcome in outcomes) / count, 3),
        compilations=round(sum(outcome.compilations for outcome in outcomes) / count, 1),
    )
    known = sorted((_notes(file) | {place: note}).items())
    try:
        write_whole(file, msgspec.json.format(msgspec.json.encode(dict(known)), indent=1) + b"\n")
    except OSError as error:
        raise StateFileError(
            f"what was reproduced cannot be noted in {file}: {error.strerror}: expected a folder "
            "that this user may write"
        ) from error


def find_rerun(root: Path | None, folder: Path, digest: str) -> Rerun | None:
    """Return what was noted of a submission, as it is now: None where it is another by now."""
    file, place = _find_notes(root, folder)
    note = _notes(file).get(place)
    return note if note is not None and note.submission == digest else None


def _find_notes(root: Path | None, folder: Path) -> tuple[Path, str]:
    """Return the file of notes and the name in it; it is never derived from where `folder` lies."""
    path = Path(os.path.abspath(folder))
    if root is not None and path.is_relative_to(os.path.abspath(root)):
        return root / _NOTES, path.relative_to(os.path.abspath(root)).as_posix()
    return site_data_path(f"leaderboard-{_NOTES}"), str(path)


def _notes(file: Path) -> dict[str, Rerun]:
    try:
        return msgspec.json.decode(read_regular(file), type=dict[str, Rerun])
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise StateFileError(
            f"{file} is damaged: expected what `leaderboard verify --rerun` notes: {error}: "
            "restore it, or remove it and run the policies again"
        ) from error


def _not_reproduced(
    task: LeaderboardTask, claimed: Outcome, again: Outcome
) -> Iterator[ValidationError]:
    facts = {"benchmark": claimed.state.benchmark}
    if again.error != claimed.error:
        errors = {"claimed": claimed.error, "again": again.error}
        yield ValidationError("the policy ends in another way", facts | errors)
    seconds = task.limit.seconds
    late = seconds is not None and again.is_late
    if late or again.walltime > _MOST_RATIO * claimed.walltime + _SLACK:
        times = {"claimed": claimed.walltime, "again": again.walltime, "limit": seconds}
        yield ValidationError("the time cannot be reproduced", facts | times)
    if again.found > claimed.found * (1 + max(_COST_MARGIN, task.tolerance)):
        costs = {"claimed": claimed.found, "again": again.found}
        yield ValidationError("the cost is not reached in the time", facts | costs)
