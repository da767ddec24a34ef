# SPDX-License-Identifier: MIT
"""What wrappers ask of what is below them is answered through wrappers of Gymnasium too."""

from typing import Any

import gymnasium
import pytest

from compiler_gym.core import ResetArguments, StepArguments
from compiler_gym.errors import InvalidParameterError
from compiler_gym.testing import FakeEnv
from compiler_gym.wrappers import CompilerEnvWrapper, Counter
from compiler_gym.wrappers._below import (
    action_count,
    find_attribute,
    nearest,
    reset_arguments,
    reset_below,
    step_below,
)

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
