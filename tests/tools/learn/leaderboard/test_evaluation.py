# SPDX-License-Identifier: MIT
"""Policies are kept to their limits, and judged by where they end."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.errors import EnvironmentNotSupported
from compiler_gym.runs import RunFolder
from compiler_gym.tools.learn.leaderboard import (
    Limit,
    Outcome,
    evaluate,
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


def test_learning_ends_with_its_time_and_what_was_learnt_is_judged(clock: Clock) -> None:
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


def test_another_compiler_is_refused() -> None:
    with pytest.raises(EnvironmentNotSupported, match="needs version 9 of the compiler"):
        evaluate(endless, replace(TASK, compiler_version="9"))
