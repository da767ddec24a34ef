# SPDX-License-Identifier: MIT
"""Policies are kept to their limits, and judged by where they end."""

import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.core import CompilerEnvState
from compiler_gym.errors import EnvironmentNotSupported, InvalidParameterError, UnknownNameError
from compiler_gym.leaderboard import (
    LevelPolicy,
    Limit,
    Meter,
    Outcome,
    Task,
    evaluate,
    find_policy,
    find_task,
)
from compiler_gym.runs import RunFolder

CRC, SHA = "benchmark://cbench-v1/crc32", "benchmark://cbench-v1/sha"
TASK = Task("demo", "A trial", Limit(compilations=5), programs=(CRC,))


def endless(env: Any) -> None:
    while True:
        env.step(env.action_space["sroa"])


def test_a_policy_is_stopped_at_its_compilations() -> None:
    (outcome,) = evaluate(endless, TASK).outcomes
    assert outcome.compilations == 5
    assert outcome.state.commandline.count("sroa") == 5
    assert outcome.initial > outcome.found
    assert not outcome.error


def test_forks_are_charged_too() -> None:
    def forking(env: Any) -> None:
        for _ in range(10):
            with env.fork() as twin:
                twin.step(0)

    (outcome,) = evaluate(forking, TASK).outcomes
    assert outcome.compilations == 5
    assert outcome.found <= outcome.initial


def test_a_policy_is_stopped_at_its_time() -> None:
    (outcome,) = evaluate(endless, replace(TASK, limit=Limit(seconds=0.3))).outcomes
    assert 0.3 <= outcome.walltime < 1.3
    assert not outcome.is_late


def test_a_policy_that_dawdles_is_late() -> None:
    import time

    (outcome,) = evaluate(
        lambda env: time.sleep(1.2), replace(TASK, limit=Limit(seconds=0.1))
    ).outcomes
    assert outcome.is_late


def test_a_policy_may_watch_its_meter() -> None:
    def careful(env: Any, meter: Meter) -> None:
        assert meter.seconds_left > 0
        env.step(env.action_space["sroa"])

    (outcome,) = evaluate(careful, replace(TASK, limit=Limit(seconds=20))).outcomes
    assert (outcome.compilations, outcome.error) == (1, "")


def test_a_policy_that_asks_for_nonsense_fails_by_itself() -> None:
    def broken(env: Any) -> None:
        env.step(env.action_space["sroa"])
        env.step(99_999)

    (outcome,) = evaluate(broken, TASK).outcomes
    assert outcome.error.startswith("InvalidActionError")
    assert "sroa" in outcome.state.commandline


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda env: env.reset(benchmark=SHA), "the policy changed the program to .*sha"),
        (lambda env: setattr(env, "reward_space", "IrInstructionCount"), "changed the reward"),
    ],
)
def test_a_policy_that_changes_what_is_fixed_gains_nothing(
    change: Callable[[Any], Any], words: str
) -> None:
    def unfair(env: Any) -> None:
        change(env)
        env.step(env.action_space["sroa"])

    (outcome,) = evaluate(unfair, TASK).outcomes
    assert re.search(words, outcome.error)
    assert outcome.found == outcome.initial
    assert (outcome.state.benchmark, outcome.state.reward) == (CRC, 0.0)


def test_a_policy_learns_from_the_programs_of_the_task_alone() -> None:
    class Learner:
        asked: Any = None
        refused: list[str]

        def train(self, make_env: Any, programs: Any, seconds: float) -> None:
            self.refused = []
            with make_env() as env:
                for change in (
                    lambda: env.reset(benchmark=CRC),
                    lambda: env.reset(options={"benchmark": CRC}),
                    env.reset,
                    lambda: env.apply(CompilerEnvState(SHA)),
                ):
                    with pytest.raises(InvalidParameterError, match="may not be learnt from"):
                        change()
                with (
                    env.fork() as forked,
                    pytest.raises(InvalidParameterError, match="may not be learnt from"),
                ):
                    forked.reset(benchmark=CRC)
                env.reset(benchmark="generator://csmith-v0/0?goal=speed")
                env.step(env.action_space["sroa"])
            self.asked = (programs, seconds)

        def __call__(self, env: Any) -> None:
            assert self.asked == (("generator://csmith-v0",), 600.0)

    task = replace(TASK, train=("generator://csmith-v0",), train_seconds=600.0)
    assert [(o.error, o.is_late) for o in evaluate(Learner(), task).outcomes] == [("", False)]


def test_learning_ends_with_its_time_and_what_was_learnt_is_judged() -> None:
    class Learner:
        episodes = 0

        def train(self, make_env: Any, programs: Any, seconds: float) -> None:
            with make_env() as env:
                while True:
                    env.reset(benchmark=SHA)
                    env.step(env.action_space["sroa"])
                    self.episodes += 1

        def __call__(self, env: Any) -> None:
            env.step(env.action_space["sroa"])

    learner = Learner()
    (outcome,) = evaluate(learner, replace(TASK, train=(SHA,), train_seconds=5.0)).outcomes
    assert learner.episodes > 0
    assert outcome.found < outcome.initial
    assert not outcome.is_late


def test_a_policy_that_learns_for_too_long_is_late() -> None:
    class Slow:
        def train(self, make_env: Any, programs: Any, seconds: float) -> None:
            time.sleep(seconds + 1.1)

        def __call__(self, env: Any) -> None: ...

    (outcome,) = evaluate(Slow(), replace(TASK, train=(SHA,), train_seconds=0.1)).outcomes
    assert outcome.is_late


def test_repetitions_get_seeds_of_their_own_and_count_by_their_median() -> None:
    task = replace(TASK, repetitions=3)
    lengths = iter([1, 2, 3])
    names = ("sroa", "instcombine", "simplifycfg")

    def longer(env: Any) -> None:
        for name in names[: next(lengths)]:
            env.step(env.action_space[name])

    evaluation = evaluate(longer, task)
    assert [outcome.repetition for outcome in evaluation.outcomes] == [0, 1, 2]
    assert evaluation.costs[0].found == evaluation.outcomes[1].found


def test_an_evaluation_goes_on_where_it_was_killed(tmp_path: Path) -> None:
    played = []

    def once(env: Any) -> None:
        played.append(str(env.benchmark))
        if len(played) == 2:
            raise KeyboardInterrupt
        env.step(env.action_space["sroa"])

    task = replace(TASK, programs=(CRC, SHA))
    with (
        pytest.raises(KeyboardInterrupt),
        RunFolder.open(tmp_path, "evaluation", {}) as run,
    ):
        evaluate(once, task, run=run)
    with RunFolder.open(tmp_path, "evaluation", {}) as run:
        outcomes = evaluate(once, task, run=run).outcomes
    assert played == [CRC, SHA, SHA]
    assert [outcome.state.benchmark for outcome in outcomes] == [CRC, SHA]
    assert Outcome.from_json(outcomes[0].to_json()).found == outcomes[0].found


def test_another_compiler_is_refused() -> None:
    with pytest.raises(EnvironmentNotSupported, match="about version 9 of the compiler"):
        evaluate(endless, replace(TASK, compiler_version="9"))


def test_levels_and_searches_are_policies() -> None:
    task = replace(TASK, limit=Limit(seconds=2))
    (level,) = evaluate(find_policy("level:-Oz"), task).outcomes
    assert level.found == level.baseline
    (found,) = evaluate(find_policy("search:random"), task).outcomes
    assert found.compilations > 10
    assert found.found < found.initial
    assert not found.is_late
    with pytest.raises(UnknownNameError, match="no action '-O9'"):
        LevelPolicy("-O9")(__import__("compiler_gym").make("llvm-v0"))


def test_a_search_that_begins_with_the_levels_is_never_worse_than_one() -> None:
    task = replace(TASK, limit=Limit(seconds=5, compilations=12))
    (found,) = evaluate(find_policy("search:portfolio+levels"), task).outcomes
    (level,) = evaluate(find_policy("level:-Oz"), task).outcomes
    assert found.found <= level.found
    assert found.state.action_space == "PassesAndPipelines"
    with pytest.raises(UnknownNameError, match="no starts 'luck' for a search"):
        find_policy("search:portfolio+luck")


def test_policies_come_from_files(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "def policy(env):\n    env.step(env.action_space['sroa'])\n"
        "class Other:\n    def __call__(self, env):\n        pass\n"
    )
    assert evaluate(find_policy(str(path)), TASK).outcomes[0].compilations == 1
    assert evaluate(find_policy(f"{path}:Other"), TASK).outcomes[0].compilations == 0
    for name, words in (
        (f"{path}:none", "has no none"),
        ("nowhere.py", "no file"),
        ("x", "no policy"),
    ):
        with pytest.raises(UnknownNameError, match=words):
            find_policy(name)
    with pytest.raises(UnknownNameError, match="no search 'x'; there are random"):
        find_policy("search:x")
    with pytest.raises(UnknownNameError, match="no task 'x'; there are llvm-ic-1s"):
        find_task("x")
