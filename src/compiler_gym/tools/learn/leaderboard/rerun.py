# SPDX-License-Identifier: MIT
"""Reproduce the times of submissions by running their policies again.

A replay shows that a command line reaches a cost, but not the time or the number of compilations
needed to find it: those are claims. The keeper of a leaderboard runs the policy again, under the
task's own limit, and records the measurements:

    leaderboard/reruns.json    by submission: the digest of its results, the machine and the times

The records belong to the keeper. They are next to the tasks, outside any submission's folder, or in
the keeper's own data for a submission outside a leaderboard; files in a submission's folder are
never read as records. Each holds only for the digest of the verified submission.
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
"""The fraction by which the cost of a rerun may be higher."""
_MOST_RATIO, _SLACK = 2.0, 1.0
"""A rerun may take this multiple of the claimed time, plus this many seconds."""


class Rerun(msgspec.Struct, frozen=True):
    """The measurements of a leaderboard's keeper when rerunning a policy."""

    submission: str
    """The digest of the reproduced submission: its task, facts and results."""
    machine: str
    episodes: int
    seconds: float | None = None
    """The mean wall time per program in seconds; None in old records."""
    compilations: float | None = None
    """The mean number of actions applied per program."""


def rerun_errors(
    policy: Callable[[], Policy],
    task: LeaderboardTask,
    outcomes: Sequence[Outcome],
    watch: Callable[[Outcome], None] = lambda outcome: None,
) -> Iterator[ValidationError]:
    """Run a policy again on the programs of `outcomes` and yield the differences.

    `policy` creates the policy for each repetition, so that nothing is kept between them. Each must
    end within the task's limit on this machine, take no more than twice the claimed time plus 1 s,
    and reach the cost to within 2 % or the task's tolerance.
    """
    for repetition in sorted({outcome.repetition for outcome in outcomes}):
        claimed = {o.state.benchmark: o for o in outcomes if o.repetition == repetition}
        once = replace(task, repetitions=1, seed=task.seed + repetition)
        try:
            reruns = evaluate(policy(), once, programs=list(claimed), watch=watch).outcomes
        except Exception as error:  # a submitted policy may raise anything
            yield ValidationError(
                "rerunning the policy failed", {"error": f"{type(error).__name__}: {error}"}
            )
            return
        for rerun in reruns:
            yield from _compare_outcomes(task, claimed[rerun.state.benchmark], rerun)


def note_rerun(root: Path | None, folder: Path, digest: str, outcomes: Sequence[Outcome]) -> None:
    """Record that `outcomes` reproduced the submission with `digest` in `folder` here."""
    file, name = _find_notes(root, folder)
    count = len(outcomes)
    note = Rerun(
        submission=digest,
        machine=f"{platform.machine()}, {platform.system()} {platform.release()}",
        episodes=count,
        seconds=round(sum(outcome.walltime for outcome in outcomes) / count, 3),
        compilations=round(sum(outcome.compilations for outcome in outcomes) / count, 1),
    )
    records = sorted((_read_notes(file) | {name: note}).items())
    try:
        write_whole(file, msgspec.json.format(msgspec.json.encode(dict(records)), indent=1) + b"\n")
    except OSError as error:
        raise StateFileError(
            f"cannot record the rerun in {file}: {error.strerror}; choose a --root folder "
            "that you can write to"
        ) from error


def find_rerun(root: Path | None, folder: Path, digest: str) -> Rerun | None:
    """Return the record of a submission, or None if there is none or the submission changed."""
    file, name = _find_notes(root, folder)
    note = _read_notes(file).get(name)
    return note if note is not None and note.submission == digest else None


def _find_notes(root: Path | None, folder: Path) -> tuple[Path, str]:
    """Return the file of records and the submission's name in it; never a file in `folder`."""
    path = Path(os.path.abspath(folder))
    if root is not None and path.is_relative_to(os.path.abspath(root)):
        return root / _NOTES, path.relative_to(os.path.abspath(root)).as_posix()
    return site_data_path(f"leaderboard-{_NOTES}"), str(path)


def _read_notes(file: Path) -> dict[str, Rerun]:
    try:
        return msgspec.json.decode(read_regular(file), type=dict[str, Rerun])
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise StateFileError(
            f"{file}, written by `leaderboard verify --rerun`, is damaged ({error}); restore it "
            "or delete it and rerun the policies"
        ) from error


def _compare_outcomes(
    task: LeaderboardTask, claimed: Outcome, rerun: Outcome
) -> Iterator[ValidationError]:
    facts = {"benchmark": claimed.state.benchmark}
    if rerun.error != claimed.error:
        errors = {"claimed": claimed.error, "again": rerun.error}
        yield ValidationError("the policy ends differently", facts | errors)
    seconds = task.limit.seconds
    late = seconds is not None and rerun.is_late
    if late or rerun.walltime > _MOST_RATIO * claimed.walltime + _SLACK:
        times = {"claimed": claimed.walltime, "again": rerun.walltime, "limit": seconds}
        yield ValidationError("the time cannot be reproduced", facts | times)
    if rerun.found > claimed.found * (1 + max(_COST_MARGIN, task.tolerance)):
        costs = {"claimed": claimed.found, "again": rerun.found}
        yield ValidationError("the cost was not reached", facts | costs)
