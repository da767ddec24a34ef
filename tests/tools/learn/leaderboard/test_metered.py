# SPDX-License-Identifier: MIT
"""What a policy uses is counted, and it is stopped at its limit."""

from dataclasses import replace
from typing import Any

import pytest

from compiler_gym.core import CompilerEnvState
from compiler_gym.errors import InvalidParameterError
from compiler_gym.tools.learn.leaderboard import (
    Limit,
    Meter,
    evaluate,
)
from compiler_gym.tools.learn.leaderboard.metered import LimitReached

from .conftest import CRC, SHA, TASK, Clock, endless


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
