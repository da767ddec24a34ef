# SPDX-License-Identifier: MIT
"""Policies are kept to their limits, and judged by where they end."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import compiler_gym
from compiler_gym.core import CompilerEnvState
from compiler_gym.errors import InvalidParameterError
from compiler_gym.runs import RunFolder
from compiler_gym.search import default_starts
from compiler_gym.tools.learn.leaderboard import (
    Limit,
    LimitReached,
    Meter,
    Outcome,
    evaluate,
    find_policy,
)
from tests.stand_ins import stand_in

from .conftest import CRC, SHA, TASK, Clock, endless


@pytest.mark.parametrize(("seconds", "is_late"), [(0.9, False), (1.2, True)])
def test_a_policy_that_dawdles_is_late(clock: Clock, seconds: float, is_late: bool) -> None:
    def dawdle(env: Any) -> None:
        clock.now += seconds

    (outcome,) = evaluate(dawdle, replace(TASK, limit=Limit(seconds=0.1))).outcomes
    assert outcome.is_late == is_late


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
        (stand_in(lambda env: env.reset(benchmark=SHA)), "the policy changed the program to .*sha"),
        (
            stand_in(lambda env: setattr(env, "reward_space", "IrInstructionCount")),
            "changed the reward",
        ),
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


def test_learning_ends_with_its_time_and_the_result_is_judged(clock: Clock) -> None:
    clock.per_look = 0.1

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


def test_a_policy_that_learns_for_too_long_is_late(clock: Clock) -> None:
    class Slow:
        def train(self, make_env: Any, programs: Any, seconds: float) -> None:
            clock.now += seconds + 1.1

        def __call__(self, env: Any) -> None: ...

    (outcome,) = evaluate(Slow(), replace(TASK, train=(SHA,), train_seconds=0.1)).outcomes
    assert outcome.is_late


def test_repetitions_get_separate_seeds_and_count_by_their_median() -> None:
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
    played: list[str] = []

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


def test_a_policy_is_stopped_at_its_time(clock: Clock) -> None:
    clock.per_look = 0.01
    (outcome,) = evaluate(endless, replace(TASK, limit=Limit(seconds=0.3))).outcomes
    assert 0.3 <= outcome.walltime < 0.4
    assert not outcome.is_late


def test_a_policy_may_watch_its_meter() -> None:
    def careful(env: Any, meter: Meter) -> None:
        assert meter.seconds_left > 0
        env.step(env.action_space["sroa"])

    (outcome,) = evaluate(careful, replace(TASK, limit=Limit(seconds=600))).outcomes
    assert (outcome.compilations, outcome.error) == (1, "")


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
                    with pytest.raises(InvalidParameterError, match="is not in the training set"):
                        change()
                with (
                    env.fork() as forked,
                    pytest.raises(InvalidParameterError, match="is not in the training set"),
                ):
                    forked.reset(benchmark=CRC)
                env.reset(benchmark="generator://csmith-v0/0?goal=speed")
                env.step(env.action_space["sroa"])
            self.asked = (programs, seconds)

        def __call__(self, env: Any) -> None:
            assert self.asked == (("generator://csmith-v0",), 600.0)

    task = replace(TASK, train=("generator://csmith-v0",), train_seconds=600.0)
    assert [(o.error, o.is_late) for o in evaluate(Learner(), task).outcomes] == [("", False)]


def test_a_meter_refuses_what_would_go_beyond_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    meter = Meter(Limit(compilations=3))
    assert meter.seconds_left == float("inf")
    meter.charge(2)
    with pytest.raises(LimitReached, match="its limit of 3 compilations"):
        meter.charge(2)
    assert meter.compilations == 2
    meter.charge(1)
    timed = Meter(Limit(seconds=10))
    timed.charge(100)
    timed.started -= 11
    assert timed.seconds > 10
    with pytest.raises(LimitReached, match="its limit of 10 s"):
        timed.charge(0)
    assert timed.compilations == 100


def test_a_limit_may_count_sequences_instead_of_actions() -> None:
    def policy(env: Any) -> None:
        sroa, dce = env.action_space["sroa"], env.action_space["dce"]
        env.multistep([sroa, dce])
        env.step(dce)
        best = env.state
        with env.fork() as kept:
            env.reset(benchmark=CRC)
            env.step(sroa)
            kept.step(sroa)
            env.apply(best)
        env.step(dce)

    three, two = (Limit(compilations=count, per_sequence=True) for count in (3, 2))
    (outcome,) = evaluate(policy, replace(TASK, limit=three)).outcomes
    assert outcome.compilations == 3
    assert "sroa" in outcome.state.commandline
    (outcome,) = evaluate(policy, replace(TASK, limit=two)).outcomes
    assert "sroa" in outcome.state.commandline
    assert (str(three), outcome.compilations) == ("3 sequences", 2)


@pytest.mark.parametrize("count", [1, 3])
def test_a_search_keeps_to_sequences_and_begins_with_a_good_one(count: int) -> None:
    limit = Limit(compilations=count, per_sequence=True)
    task = replace(TASK, limit=limit)
    (outcome,) = evaluate(find_policy("search:local+known"), task).outcomes
    assert outcome.compilations == count
    with compiler_gym.make("llvm-v0", action_space="PassesAndPipelines") as env:
        starts = default_starts(env.action_space)
        costs: list[int] = []
        for start in starts[:count]:
            env.reset(benchmark=CRC)
            for action in start:
                env.step(action)
                costs.append(int(env.observation["IrInstructionCount"]))
    assert outcome.found == min(costs)  # of a prefix, and not of a shortened sequence
