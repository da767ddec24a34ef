# SPDX-License-Identifier: MIT
"""Submissions: folders with results that can be replayed.

leaderboard/TASK/NAME/submission.toml    authors, policy and description
leaderboard/TASK/NAME/results.jsonl      one outcome per line, each also a state
leaderboard/TASK/published.json          the cost of each program at the baseline used in
                                         publications, for results without it

Verification trusts nothing in a submission: it replays and measures every episode and checks the
program's behaviour. A replay cannot show the time and the number of compilations; those are claims
until the policy is run again.
"""

import hashlib
import json
import random
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from compiler_gym.core import CompilerEnv
from compiler_gym.errors import CompilerGymError, StateFileError
from compiler_gym.files import read_regular, write_whole
from compiler_gym.registration import make
from compiler_gym.sandbox import require, use_sandbox
from compiler_gym.tools.learn.leaderboard.evaluation import Evaluation, Outcome
from compiler_gym.tools.learn.leaderboard.policies import find_policy
from compiler_gym.tools.learn.leaderboard.rerun import Rerun, find_rerun, note_rerun, rerun_errors
from compiler_gym.tools.learn.leaderboard.task import LeaderboardTask, find_task
from compiler_gym.validation import ValidationError, replay, replay_differences

__all__ = ["Submission", "find_submissions", "read_submission", "verify", "write_submission"]

_DESCRIPTION_FILE = "submission.toml"
_RESULTS = "results.jsonl"
_PUBLISHED = "published.json"
_MOST_QUOTED_LETTERS = 300
_TEXT_FIELDS = ("name", "policy", "authors", "description", "seeds", "machine")


@dataclass(frozen=True, slots=True)
class Submission:
    """One entry of a leaderboard."""

    folder: Path
    task: LeaderboardTask
    facts: dict[str, Any] = field(default_factory=dict[str, Any])
    """The contents of ``submission.toml``."""
    outcomes: tuple[Outcome, ...] = ()
    root: Path | None = None
    """The folder of its leaderboard, where the keeper records reruns."""

    @property
    def name(self) -> str:
        """Name of the entry."""
        return str(self.facts.get("name", self.folder.name))

    @property
    def is_reproduced(self) -> bool:
        """True if a rerun of the policy reproduced these results; see `verify`."""
        return self.rerun is not None

    @property
    def rerun(self) -> Rerun | None:
        """The record of a rerun that reproduced these results, if any."""
        return find_rerun(self.root, self.folder, self.digest)

    @property
    def digest(self) -> str:
        """The SHA-256 of everything that `verify` checks."""
        content = [self.task.name, self.facts, list(map(asdict, self.outcomes))]
        return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()

    @property
    def is_ranked(self) -> bool:
        """True if it has a rank: the keeper has reproduced it, and no outcome is late."""
        return not any(outcome.is_late for outcome in self.outcomes) and self.is_reproduced

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


def read_submission(folder: Path, *, root: Path | None = None) -> Submission:
    """Return the submission in `folder`; raise `StateFileError` if it is damaged.

    `root` is the folder of its leaderboard. Without one, reruns are recorded in the user's own
    data.
    """
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
    task = find_task(facts["task"])
    outcomes = _read_outcomes(lines, folder / _RESULTS)
    published = _with_published(outcomes, task, folder.parent)
    return Submission(folder, task, facts, tuple(published), root)


def find_submissions(root: Path) -> Iterator[Submission]:
    """Yield every submission below `root`, in the order of their folders."""
    for file in sorted(root.glob(f"*/*/{_DESCRIPTION_FILE}")):
        yield read_submission(file.parent, root=root)


def verify(
    submission: Submission,
    *,
    sample: int | None = None,
    rungs: Iterable[str] = (),
    seed: int = 0,
    rerun: bool = False,
    sandbox: str | None = None,
    watch: Callable[[Outcome, list[ValidationError]], None] = lambda outcome, errors: None,
) -> list[ValidationError]:
    """Return the errors in a submission; an empty list if it can be trusted.

    Replays and measures every episode, or a random `sample`, and runs the named `rungs` of the
    environment's validation. With `rerun`, it also runs the policy again, which executes its code
    and may take the task's time for each program; if everything is reproduced, that is recorded
    outside the submission's folder, and `leaderboard_table` ranks the submission.

    Programs run in a sandbox, by default the strongest on this machine; the policy's own code runs
    with your permissions. Raises `SandboxError` if there is no sandbox, unless `sandbox` is
    ``"none"``.
    """
    with use_sandbox(require(sandbox, what=f"the submission {submission.name}")):
        return _verify(submission, sample, tuple(rungs), seed, rerun, watch)


def _verify(
    submission: Submission,
    sample: int | None,
    rungs: tuple[str, ...],
    seed: int,
    rerun: bool,
    watch: Callable[[Outcome, list[ValidationError]], None],
) -> list[ValidationError]:
    problems = list(_compare_programs(submission))
    outcomes = list(submission.outcomes)
    if sample is not None and sample < len(outcomes):
        outcomes = random.Random(seed).sample(outcomes, sample)
    for outcome in outcomes:
        errors = list(_check_outcome(submission.task, outcome, rungs))
        watch(outcome, errors)
        problems += errors
    if rerun and not problems:
        problems += _run_again(submission, outcomes)
    return problems


def _run_again(submission: Submission, outcomes: list[Outcome]) -> list[ValidationError]:
    name = str(submission.facts.get("policy", ""))
    reruns: list[Outcome] = []
    problems = list(
        rerun_errors(lambda: find_policy(name), submission.task, outcomes, watch=reruns.append)
    )
    if reruns and not problems and len(reruns) == len(submission.outcomes):
        note_rerun(submission.root, submission.folder, submission.digest, reruns)
    return problems


def _read_outcomes(lines: list[str], path: Path) -> Iterator[Outcome]:
    for number, line in enumerate(lines, start=1):
        try:
            yield Outcome.from_json(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise StateFileError(
                f"{path}, line {number} is not a result: {str(error)[:_MOST_QUOTED_LETTERS]}"
            ) from error


def _with_published(
    outcomes: Iterable[Outcome], task: LeaderboardTask, folder: Path
) -> Iterator[Outcome]:
    """Yield outcomes with the published costs, which older results lack."""
    costs = _read_published_costs(folder / _PUBLISHED, task.published_baseline)
    for outcome in outcomes:
        cost = costs.get(outcome.state.benchmark) if outcome.published is None else None
        yield outcome if cost is None else replace(outcome, published=cost)


def _read_published_costs(path: Path, observation: str) -> dict[str, float]:
    """Return the costs of `observation` in `path`, by program; empty if there is no file."""
    if not observation or not path.is_file():
        return {}
    try:
        costs = json.loads(read_regular(path))[observation]
        return {str(uri): float(cost) for uri, cost in costs.items()}
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise StateFileError(
            f"{path} is damaged: it must map {observation} to the costs of programs, by address: "
            f"{str(error)[:_MOST_QUOTED_LETTERS]}"
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
    if len(env.actions) > outcome.compilations:
        counts = {"actions": len(env.actions), "compilations": outcome.compilations}
        yield ValidationError(
            "fewer compilations are claimed than actions replayed", facts | counts
        )
    most = task.limit.compilations
    if most is not None and len(env.actions) > most:
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
