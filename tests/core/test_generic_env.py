# SPDX-License-Identifier: MIT
"""An environment's type names its observations and actions, and its results have names."""

import pickle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler_gym.core import CompilerEnv, StepResult
from compiler_gym.testing import FakeEnv


def test_the_results_of_a_step_have_names_and_are_a_tuple() -> None:
    with FakeEnv(reward_space="number") as env:
        env.reset()
        result = env.step(0)
    observation, reward, terminated, truncated, info = result
    assert isinstance(result, StepResult)
    assert (result.observation, result.reward) == (observation, reward)
    assert (result.terminated, result.truncated, result.info) == (terminated, truncated, info)
    assert result == (observation, reward, terminated, truncated, info)
    assert pickle.loads(pickle.dumps(result)) == result


def test_types_of_observations_and_actions_can_be_named_and_left_out() -> None:
    env: CompilerEnv[NDArray[np.int64], int] = FakeEnv()
    plain: CompilerEnv = env

    class Own(CompilerEnv[Any, int]):
        """A subclass that names its types."""

    class Old(CompilerEnv):
        """A subclass that does not."""

    assert issubclass(Own, CompilerEnv)
    assert issubclass(Old, CompilerEnv)
    plain.close()
