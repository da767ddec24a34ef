# SPDX-License-Identifier: MIT
"""Submissions: folders with results that can be replayed.

    leaderboard/TASK/NAME/submission.toml    who, what, how
    leaderboard/TASK/NAME/results.jsonl      one outcome per line, each of them a state
    leaderboard/TASK/published.json          for results that do not say it: what each program
                                             costs at the baseline of publications

Verifying trusts nothing in them: every episode is replayed and measured again, and
the program's behaviour is checked. What a replay cannot show, how long it took and how
many compilations, is a claim until the policy is run again.
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
    """What ``submission.toml`` holds."""
    outcomes: tuple[Outcome, ...] = ()
    root: Path | None = None
    """The leaderboard it belongs to, where its keeper notes what was reproduced."""

    @property
    def name(self) -> str:
        """Name of the entry."""
        return str(self.facts.get("name", self.folder.name))

    @property
    def is_reproduced(self) -> bool:
        """True if the policy was run again with these results: see `verify`."""
        return self.rerun is not None

    @property
    def rerun(self) -> Rerun | None:
        """What was measured when the policy was run again with these results, if it was."""
        return find_rerun(self.root, self.folder, self.digest)

    @property
    def digest(self) -> str:
        """The SHA-256 of everything that `verify` looks at."""
        told = [self.task.name, self.facts, list(map(asdict, self.outcomes))]
        return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()

    @property
    def is_ranked(self) -> bool:
        """True if it has a rank: only if somebody else has reproduced it, in its time."""
        return not any(outcome.is_late for outcome in self.outcomes) and self.is_reproduced

    @property
    def evaluation(self) -> Evaluation:
        """The results as an evaluation."""
        return Evaluation(self.task, self.outcomes)


def write_submission(folder: Path, evaluation: Evaluation, facts: dict[str, Any]) -> Submission:
    """Write the results of a policy to `folder`; `facts` names it and says how it works."""
    task = evaluation.task
    known = {"task": task.name, **{key: facts[key] for key in _TEXT_FIELDS if key in facts}}
    lines = [f"{key} = {json.dumps(str(value))}" for key, value in known.items()]
    write_whole(folder / _DESCRIPTION_FILE, ("\n".join(lines) + "\n").encode())
    results = (json.dumps(outcome.to_json()) + "\n" for outcome in evaluation.outcomes)
    write_whole(folder / _RESULTS, "".join(results).encode())
    return read_submission(folder)


def read_submission(folder: Path, *, root: Path | None = None) -> Submission:
    """Return the submission in `folder`; raise `StateFileError` where it is damaged.

    `root` is the leaderboard below which it lies. Without one, what was reproduced is noted in
    the user's own data.
    """
    try:
        facts = tomllib.loads(read_regular(folder / _DESCRIPTION_FILE).decode())
        results = read_regular(folder / _RESULTS).decode().removesuffix("\n")
        lines = results.split("\n") if results else []
    except OSError as error:
        raise StateFileError(
            f"{folder} is no submission: expected {_DESCRIPTION_FILE} and {_RESULTS}: "
            f"{error.strerror}"
        ) from error
    except UnicodeDecodeError as error:
        raise StateFileError(f"{folder} is damaged: no text: {error}") from error
    except (ValueError, RecursionError) as error:
        raise StateFileError(f"{folder / _DESCRIPTION_FILE} is damaged: {error}") from error
    for key in {"task", *_TEXT_FIELDS} & facts.keys():
        if not isinstance(facts[key], str):
            raise StateFileError(
                f"{folder / _DESCRIPTION_FILE}: {key} is {facts[key]!r:.80}: expected text"
            )
    if "task" not in facts:
        raise StateFileError(f"{folder / _DESCRIPTION_FILE} names no task")
    task = find_task(facts["task"])
    outcomes = _outcomes(lines, folder / _RESULTS)
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
    """Return what is wrong with a submission: nothing, if it can be trusted.

    Replays every episode, or a random `sample`, measures again, and asks the named
    `rungs` of the environment's validation. With `rerun` the policy is run again as well,
    which runs its code and takes the task's time for each program; where all of it is
    reproduced, that is noted outside of the folder, and `leaderboard_table` ranks it.

    Programs run in a sandbox, by default the strongest of this machine; the policy's own code
    runs with your rights. Raises `SandboxError` where there would be none, unless `sandbox` is
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
    found = list(_incomplete(submission))
    outcomes = list(submission.outcomes)
    if sample is not None and sample < len(outcomes):
        outcomes = random.Random(seed).sample(outcomes, sample)
    for outcome in outcomes:
        errors = list(_wrong(submission.task, outcome, rungs))
        watch(outcome, errors)
        found += errors
    if rerun and not found:
        found += _run_again(submission, outcomes)
    return found


def _run_again(submission: Submission, outcomes: list[Outcome]) -> list[ValidationError]:
    name = str(submission.facts.get("policy", ""))
    again: list[Outcome] = []
    found = list(
        rerun_errors(lambda: find_policy(name), submission.task, outcomes, watch=again.append)
    )
    if again and not found and len(again) == len(submission.outcomes):
        note_rerun(submission.root, submission.folder, submission.digest, again)
    return found


def _outcomes(lines: list[str], path: Path) -> Iterator[Outcome]:
    for number, line in enumerate(lines, start=1):
        try:
            yield Outcome.from_json(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise StateFileError(
                f"{path}, line {number} is no result: {str(error)[:_MOST_QUOTED_LETTERS]}"
            ) from error


def _with_published(
    outcomes: Iterable[Outcome], task: LeaderboardTask, folder: Path
) -> Iterator[Outcome]:
    """Yield outcomes with what older ones do not say: it is a fact about programs."""
    known = _read_published_costs(folder / _PUBLISHED, task.published_baseline)
    for outcome in outcomes:
        cost = known.get(outcome.state.benchmark) if outcome.published is None else None
        yield outcome if cost is None else replace(outcome, published=cost)


def _read_published_costs(path: Path, observation: str) -> dict[str, float]:
    """Return the costs by program that `path` holds of `observation`; none if it is not there."""
    if not observation or not path.is_file():
        return {}
    try:
        costs = json.loads(read_regular(path))[observation]
        return {str(uri): float(cost) for uri, cost in costs.items()}
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise StateFileError(
            f"{path} is damaged: expected the costs of programs at {observation}, by their "
            f"addresses: {str(error)[:_MOST_QUOTED_LETTERS]}"
        ) from error


def _incomplete(submission: Submission) -> Iterator[ValidationError]:
    """Yield programs that are missing, twice there or not of the task."""
    task = submission.task
    with make(task.environment) as env:
        wanted = {(uri, r) for uri in task.uris(env) for r in range(task.repetitions)}
    there = [(o.state.benchmark, o.repetition) for o in submission.outcomes]
    for kind, keys in (
        ("a program of the task is missing", wanted - set(there)),
        ("a program is not of the task", set(there) - wanted),
        ("a program is there twice", {key for key, times in Counter(there).items() if times > 1}),
    ):
        for uri, repetition in sorted(keys):
            yield ValidationError(kind, {"benchmark": uri, "repetition": repetition})


def _wrong(
    task: LeaderboardTask, outcome: Outcome, rungs: tuple[str, ...]
) -> Iterator[ValidationError]:
    uri = outcome.state.benchmark
    seconds = task.limit.seconds
    if seconds is not None and not outcome.is_late and outcome.walltime > seconds + 1:
        facts = {"benchmark": uri, "walltime": outcome.walltime, "limit": seconds}
        yield ValidationError("the limit was passed", facts)
    most = task.limit.compilations
    if most is not None and outcome.compilations > most:
        facts = {"benchmark": uri, "compilations": outcome.compilations, "limit": most}
        yield ValidationError("the limit was passed", facts)
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
    yield from _other_circumstances(env, task, outcome)
    replayed = replay(env, outcome.state)
    if task.tolerance:  # what is measured differs from time to time, and so does its reward
        replayed = replace(replayed, reward=None)
    yield from replay_differences(outcome.state, replayed)
    if len(env.actions) > outcome.compilations:
        counts = {"actions": len(env.actions), "compilations": outcome.compilations}
        yield ValidationError("fewer compilations are claimed than actions", facts | counts)
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
            yield ValidationError("another cost is measured", facts | costs)


def _other_circumstances(
    env: CompilerEnv, task: LeaderboardTask, outcome: Outcome
) -> Iterator[ValidationError]:
    """Yield where an episode is not of the task, or of no compiler that is here to ask."""
    state = outcome.state
    expected: dict[str, tuple[str | None, str | None]] = {
        "environment": (state.environment, task.environment),
        "reward_space": (state.reward_space, task.reward_space),
        "compiler_version": (state.compiler_version or "none", env.compiler_version),
    }
    if task.action_space is not None:
        expected["action_space"] = state.action_space, task.action_space
    for name, (found, wanted) in expected.items():
        if found is not None and found != wanted:
            facts = {"benchmark": state.benchmark, "expected": wanted, "found": found}
            yield ValidationError(f"another {name} was recorded", facts)
