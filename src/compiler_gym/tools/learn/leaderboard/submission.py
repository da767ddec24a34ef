# SPDX-License-Identifier: MIT
"""Submissions: folders with results that can be replayed, and their tables.

leaderboard/TASK/NAME/submission.toml    authors, policy and description
leaderboard/TASK/NAME/results.jsonl      one outcome per line, each also a state

Verification trusts nothing in a submission: it replays and measures every episode and checks the
program's behaviour. A replay cannot show the time and the number of compilations: those are claims.
"""

import json
import random
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from compiler_gym.core import CompilerEnv
from compiler_gym.errors import CompilerGymError, StateFileError
from compiler_gym.files import read_regular, write_whole
from compiler_gym.registration import make
from compiler_gym.sandbox import require, use_sandbox
from compiler_gym.statistics import Interval
from compiler_gym.tools.learn.leaderboard.evaluation import Evaluation, Outcome
from compiler_gym.tools.learn.leaderboard.task import LeaderboardTask, find_task
from compiler_gym.validation import ValidationError, replay, replay_differences

_DESCRIPTION_FILE = "submission.toml"
_RESULTS = "results.jsonl"
_MOST_QUOTED_LETTERS = 300
_HEAD = (
    *("rank", "policy", "(C0-C)/(C0-Cb)", "(C0-C)/(C0-Cp)", "Cb/C", "(Cb-C)/Cb"),
    *("improved", "seconds", "compilations"),
)
_TEXT_FIELDS = ("name", "policy", "authors", "description", "seeds", "machine")


@dataclass(frozen=True, slots=True)
class Submission:
    """One entry of a leaderboard."""

    folder: Path
    task: LeaderboardTask
    facts: dict[str, Any] = field(default_factory=dict[str, Any])
    """The contents of ``submission.toml``."""
    outcomes: tuple[Outcome, ...] = ()

    @property
    def name(self) -> str:
        """Name of the entry."""
        return str(self.facts.get("name", self.folder.name))

    @property
    def is_ranked(self) -> bool:
        """True if it has a rank: no outcome is late."""
        return not any(outcome.is_late for outcome in self.outcomes)

    @property
    def evaluation(self) -> Evaluation:
        """The results as an evaluation."""
        return Evaluation(self.task, self.outcomes)


def write_submission(folder: Path, evaluation: Evaluation, facts: dict[str, Any]) -> Submission:
    """Write the results of a policy to `folder`; `facts` holds its name and description."""
    task = evaluation.task
    description = {"task": task.name, **{key: facts[key] for key in _TEXT_FIELDS if key in facts}}
    lines = [f"{key} = {json.dumps(str(value))}" for key, value in description.items()]
    write_whole(folder / _DESCRIPTION_FILE, ("\n".join(lines) + "\n").encode())
    results = (json.dumps(outcome.to_json()) + "\n" for outcome in evaluation.outcomes)
    write_whole(folder / _RESULTS, "".join(results).encode())
    return read_submission(folder)


def read_submission(folder: Path) -> Submission:
    """Return the submission in `folder`; raise `StateFileError` if it is damaged."""
    try:
        facts = tomllib.loads(read_regular(folder / _DESCRIPTION_FILE).decode())
        results = read_regular(folder / _RESULTS).decode().removesuffix("\n")
        lines = results.split("\n") if results else []
    except OSError as error:
        raise StateFileError(
            f"{folder} is not a submission: cannot read {_DESCRIPTION_FILE} and {_RESULTS}: "
            f"{error.strerror}"
        ) from error
    except UnicodeDecodeError as error:
        raise StateFileError(f"{folder} is damaged: a file is not UTF-8: {error}") from error
    except (ValueError, RecursionError) as error:
        raise StateFileError(f"{folder / _DESCRIPTION_FILE} is damaged: {error}") from error
    for key in {"task", *_TEXT_FIELDS} & facts.keys():
        if not isinstance(facts[key], str):
            raise StateFileError(
                f"{folder / _DESCRIPTION_FILE}: {key} must be a string (got {facts[key]!r:.80})"
            )
    if "task" not in facts:
        raise StateFileError(
            f'{folder / _DESCRIPTION_FILE} does not name a task; add `task = "NAME"`'
        )
    outcomes = tuple(_read_outcomes(lines, folder / _RESULTS))
    return Submission(folder, find_task(facts["task"]), facts, outcomes)


def find_submissions(root: Path) -> Iterator[Submission]:
    """Yield every submission below `root`, in the order of their folders."""
    for file in sorted(root.glob(f"*/*/{_DESCRIPTION_FILE}")):
        yield read_submission(file.parent)


def verify(
    submission: Submission,
    *,
    sample: int | None = None,
    rungs: Iterable[str] = (),
    seed: int = 0,
    sandbox: str | None = None,
) -> list[ValidationError]:
    """Return the errors in a submission; an empty list if it can be trusted.

    Replays and measures every episode, or a random `sample`, and runs the named `rungs` of the
    environment's validation. Programs run in a sandbox, by default the strongest on this machine.
    Raises `SandboxError` if there is no sandbox, unless `sandbox` is ``"none"``.
    """
    outcomes = list(submission.outcomes)
    if sample is not None and sample < len(outcomes):
        outcomes = random.Random(seed).sample(outcomes, sample)
    with use_sandbox(require(sandbox, what=f"the submission {submission.name}")):
        problems = list(_compare_programs(submission))
        for outcome in outcomes:
            problems += _check_outcome(submission.task, outcome, tuple(rungs))
    return problems


def _read_outcomes(lines: list[str], path: Path) -> Iterator[Outcome]:
    for number, line in enumerate(lines, start=1):
        try:
            yield Outcome.from_json(msgspec.json.decode(line))
        except (ValueError, RecursionError) as error:
            raise StateFileError(
                f"{path}, line {number} is not a result: {str(error)[:_MOST_QUOTED_LETTERS]}"
            ) from error


def _compare_programs(submission: Submission) -> Iterator[ValidationError]:
    """Yield an error for each program that is missing, duplicated or not part of the task."""
    task = submission.task
    with make(task.environment) as env:
        expected = {(uri, r) for uri in task.uris(env) for r in range(task.repetitions)}
    recorded = [(o.state.benchmark, o.repetition) for o in submission.outcomes]
    for kind, keys in (
        ("a program of the task is missing", expected - set(recorded)),
        ("a program is not part of the task", set(recorded) - expected),
        ("a program appears twice", {key for key, times in Counter(recorded).items() if times > 1}),
    ):
        for uri, repetition in sorted(keys):
            yield ValidationError(kind, {"benchmark": uri, "repetition": repetition})


def _check_outcome(
    task: LeaderboardTask, outcome: Outcome, rungs: tuple[str, ...]
) -> Iterator[ValidationError]:
    uri = outcome.state.benchmark
    seconds = task.limit.seconds
    if seconds is not None and not outcome.is_late and outcome.walltime > seconds + 1:
        facts = {"benchmark": uri, "walltime": outcome.walltime, "limit": seconds}
        yield ValidationError("the limit was exceeded", facts)
    most = task.limit.compilations
    if most is not None and outcome.compilations > most:
        facts = {"benchmark": uri, "compilations": outcome.compilations, "limit": most}
        yield ValidationError("the limit was exceeded", facts)
    try:
        with make(task.environment, reward_space=task.reward_space) as env:
            yield from _measure_again(env, task, outcome)
            if rungs:
                yield from env.validate(outcome.state, rungs=rungs).errors  # type: ignore[call-arg]  # those with rungs have it
    except CompilerGymError as error:
        facts = {"benchmark": uri, "error": f"{type(error).__name__}: {error}"}
        yield ValidationError("the episode cannot be replayed", facts)


def _measure_again(
    env: CompilerEnv, task: LeaderboardTask, outcome: Outcome
) -> Iterator[ValidationError]:
    facts = {"benchmark": outcome.state.benchmark}
    yield from _compare_settings(env, task, outcome)
    replayed = replay(env, outcome.state)
    if task.tolerance:  # measurements vary, and so does the reward
        replayed = replace(replayed, reward=None)
    yield from replay_differences(outcome.state, replayed)
    per_action = not task.limit.per_sequence
    if per_action and len(env.actions) > outcome.compilations:
        counts = {"actions": len(env.actions), "compilations": outcome.compilations}
        yield ValidationError(
            "fewer compilations are claimed than actions replayed", facts | counts
        )
    most = task.limit.compilations
    if per_action and most is not None and len(env.actions) > most:
        counts = {"actions": len(env.actions), "limit": most}
        yield ValidationError("the episode is longer than the limit", facts | counts)
    published = () if outcome.published is None else ((task.published_baseline, outcome.published),)
    for name, recorded in (
        (task.initial, outcome.initial),
        (task.baseline, outcome.baseline),
        (task.cost, outcome.found),
        *published,
    ):
        measured = float(env.observation[name])
        if not abs(measured - recorded) <= task.tolerance * abs(measured):
            costs = {"observation": name, "recorded": recorded, "measured": measured}
            yield ValidationError("a different cost was measured", facts | costs)


def _compare_settings(
    env: CompilerEnv, task: LeaderboardTask, outcome: Outcome
) -> Iterator[ValidationError]:
    """Yield an error for each setting or version that differs from the task or this compiler."""
    state = outcome.state
    expected: dict[str, tuple[str | None, str | None]] = {
        "environment": (state.environment, task.environment),
        "reward_space": (state.reward_space, task.reward_space),
        "compiler_version": (state.compiler_version or "none", env.compiler_version),
    }
    if task.action_space is not None:
        expected["action_space"] = state.action_space, task.action_space
    for name, (recorded, required) in expected.items():
        if recorded is not None and recorded != required:
            facts = {"benchmark": state.benchmark, "expected": required, "found": recorded}
            yield ValidationError(f"a different {name} was recorded", facts)


def rank_submissions(submissions: Iterable[Submission]) -> list[Submission]:
    """Return submissions by the mean of ``Cb/C``, best first, without those that are late."""

    def mean(submission: Submission) -> float:
        ratio = submission.evaluation.summary.ratio
        return 0.0 if ratio is None else ratio.mean

    return sorted((s for s in submissions if s.is_ranked), key=lambda s: (-mean(s), s.name))


def leaderboard_table(task: LeaderboardTask, submissions: Sequence[Submission]) -> str:
    """Return the table of one task, best first; times and compilations are those claimed."""
    published = f", Cp: `{task.published_baseline}`" if task.published_baseline else ""
    entries = rank_submissions(s for s in submissions if s.task.name == task.name)
    rows = [
        _HEAD,
        ("--:", "---", *("--:",) * (len(_HEAD) - 2)),
        *(_cells(rank, entry) for rank, entry in enumerate(entries, start=1)),
    ]
    title = f"**{task.name}**: {task.description} (Cb: `{task.baseline}`{published})"
    return "\n".join([title, "", *(f"| {' | '.join(row)} |" for row in rows)])


def _cells(rank: int, submission: Submission) -> tuple[str, ...]:
    evaluation, summary = submission.evaluation, submission.evaluation.summary
    return (
        str(rank),
        _escape(submission.name),
        _interval_cell(summary.share),
        _interval_cell(summary.published_share),
        _interval_cell(summary.ratio),
        _interval_cell(summary.saving, ".1%"),
        f"{summary.improved:.0%}",
        f"{evaluation.walltime:.2f}",
        f"{evaluation.compilations:,.0f}",
    )


def _escape(name: str) -> str:
    """Return `name` escaped, so that it cannot end a cell or a row, or begin a tag."""
    printable = "".join(letter if letter.isprintable() else " " for letter in name)
    return printable.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def write_tables(submissions: Sequence[Submission]) -> str:
    """Return the tables of every task that has a submission."""
    tasks = {submission.task.name: submission.task for submission in submissions}
    return "\n\n".join(
        leaderboard_table(tasks[name], submissions) for name in sorted(tasks, key=_by_limit)
    )


def _by_limit(name: str) -> tuple[str, float]:
    digits = re.search(r"(\d+)[sx]$", name)
    return re.sub(r"\d+(?=[sx]$)", "", name), float(digits[1]) if digits else 0.0


def _interval_cell(interval: Interval | None, form: str = ".3f") -> str:
    if interval is None:
        return "-"
    return f"{interval.mean:{form}} [{interval.low:{form}}, {interval.high:{form}}]"
