# SPDX-License-Identifier: MIT
"""Wrappers call any layer below them, and their copies share nothing by accident."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import pytest

from compiler_gym.core import ResetArguments, StepArguments
from compiler_gym.errors import InvalidParameterError
from compiler_gym.testing import FakeEnv
from compiler_gym.wrappers import CompilerEnvWrapper, Counter, ForkOnStep, Lasting
from compiler_gym.wrappers.layers import (
    Shared,
    action_count,
    find_attribute,
    nearest,
    reset_arguments,
    reset_below,
    step_below,
)
from tests.stand_ins import stand_in

ADD = 0


class Noted(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A wrapper of Gymnasium that knows its options and has a name of its own."""

    noted: Any = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self.noted = options
        return super().reset(seed=seed, options=options)


def test_the_nearest_environment_of_ours_is_found(env: FakeEnv) -> None:
    counter = Counter(env)
    assert nearest(env) is env
    assert nearest(Noted(Noted(counter))) is counter
    with pytest.raises(AttributeError, match="is not a compiler environment"):
        nearest(gymnasium.make("CartPole-v1"))


def test_an_attribute_is_that_of_the_outermost_that_has_it(env: FakeEnv) -> None:
    noted = Noted(Counter(env))
    assert find_attribute(noted, "noted") is None
    assert find_attribute(noted, "counters")["step"] == 0
    with pytest.raises(AttributeError, match="nobody_has_this"):
        find_attribute(noted, "nobody_has_this")


def test_a_reset_below_gymnasium_gets_its_arguments_as_options(env: FakeEnv) -> None:
    noted = Noted(env)
    asked = reset_arguments(3, {"timeout": 9.0}, {"benchmark": "fake-v0/7", "level": 2})
    assert asked == ResetArguments(3, {"timeout": 9.0}, "fake-v0/7", further={"level": 2})
    assert reset_below(noted, asked)[1]["benchmark"] == "benchmark://fake-v0/7"
    assert noted.noted == {"timeout": 9.0, "benchmark": "fake-v0/7", "level": 2}
    reset_below(noted, ResetArguments())
    assert noted.noted is None


def test_steps_below_gymnasium_are_taken_one_by_one_and_summed(env: FakeEnv) -> None:
    noted = CompilerEnvWrapper(Noted(Counter(env)))
    noted.reset(benchmark="fake-v0/7")
    assert step_below(noted.env, StepArguments([ADD, ADD]))[1] == -2
    assert action_count(noted.env) == 2
    assert noted.counters["step"] == 2
    assert step_below(noted.env, StepArguments([]))[0][0] == 9
    with pytest.raises(InvalidParameterError, match="is a Gymnasium wrapper"):
        step_below(noted.env, StepArguments([ADD], reward_spaces=["number"]))


class Total(Lasting):
    """Counts every step there was."""

    steps = 0


class Log:
    """Has an open file, which no copy has."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file: Any = path.open("a")

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "file": None}


class Keeps(CompilerEnvWrapper):
    """Holds a value of each kind."""

    def __init__(self, env: Any, path: Path) -> None:
        super().__init__(env)
        self.since_reset: list[Any] = []
        self.total = Total()
        self.facts: Shared[set[int]] = Shared(set())
        self.itself = self

    def episode_began(self) -> None:
        super().episode_began()
        self.since_reset = []

    def handle_step(self, asked: Any) -> Any:
        result = super().handle_step(asked)
        self.since_reset += asked.actions
        self.total.steps += len(asked.actions)
        self.facts.value |= set(asked.actions)
        return result


def pickled(env: Any) -> Any:
    return pickle.loads(pickle.dumps(env))


@pytest.mark.parametrize("copied", [stand_in(lambda env: env.fork()), copy.deepcopy, pickled])
def test_a_copy_holds_the_same_and_goes_its_own_way(
    env: FakeEnv, tmp_path: Path, copied: Callable[[Any], Any]
) -> None:
    keeps = Keeps(env, tmp_path / "log")
    keeps.reset()
    keeps.step(0)
    with copied(keeps) as twin:
        assert twin.since_reset == [0]
        assert twin.itself is twin
        assert twin.env is not keeps.env
        twin.step(1)
        assert (twin.total.steps, keeps.total.steps) == (2, 1)
        assert keeps.since_reset == [0]
        assert (keeps.facts.value == {0, 1}) is (copied is not pickled)


def test_an_undone_step_takes_back_all_but_what_lasts(env: FakeEnv, tmp_path: Path) -> None:
    keeps = Keeps(ForkOnStep(env), tmp_path / "log")
    keeps.reset()
    keeps.step(0)
    keeps.multistep([1, 3])
    total = keeps.total
    keeps.undo()
    assert keeps.since_reset == [0]
    assert keeps.total is total
    assert total.steps == 3
    assert keeps.facts.value == {0, 1, 3}
    assert keeps.itself is keeps
    keeps.undo()
    assert keeps.since_reset == []


def test_a_part_with_an_open_file_defines_its_copy(env: FakeEnv, tmp_path: Path) -> None:
    keeps = Keeps(env, tmp_path / "log")
    log = keeps.log = Log(tmp_path / "log")
    keeps.reset()
    for copied in (stand_in(lambda one: one.fork()), pickled):
        with copied(keeps) as twin:
            assert twin.log.file is None
            assert twin.log.path == log.path
    assert not log.file.closed
    log.file.close()
