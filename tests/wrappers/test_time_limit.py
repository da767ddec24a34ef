# SPDX-License-Identifier: MIT
"""Episodes end after a number of actions."""

from typing import Any

import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym.testing import FakeEnv
from compiler_gym.wrappers import TimeLimit


def test_an_episode_is_truncated_at_its_limit(env: FakeEnv) -> None:
    limited = TimeLimit(env, max_episode_steps=2)
    for _ in range(2):
        limited.reset()
        assert limited.step(0)[2:4] == (False, False)
        *_, terminated, truncated, info = limited.step(0)
        assert (terminated, truncated) == (False, True)
        assert info["TimeLimit.truncated"] is True


def test_several_actions_count_each(env: FakeEnv) -> None:
    limited = TimeLimit(env, 3)
    limited.reset()
    assert not limited.multistep([0, 0])[3]
    assert not limited.multistep([])[3]
    assert limited.multistep([0])[3]


def test_a_natural_end_at_the_limit_is_both(make_env: Any) -> None:
    limited = TimeLimit(make_env(action_space="Behaviours"), 1)
    limited.reset()
    *_, terminated, truncated, info = limited.step(limited.action_space["end"])
    assert (terminated, truncated) == (True, True)  # as Gymnasium's own
    assert info["TimeLimit.truncated"] is False


def test_the_limit_of_the_spec_is_the_default(env: FakeEnv) -> None:
    class Spec:
        max_episode_steps = 7

    env.spec = Spec()  # type: ignore[assignment]  # all that is looked at
    assert TimeLimit(env).max_episode_steps == 7


@pytest.mark.parametrize("limit", [None, 0, -1, 1.5])
def test_a_limit_that_is_none_is_refused(env: FakeEnv, limit: Any) -> None:
    with pytest.raises(InvalidParameterError, match="max_episode_steps must be at least 1"):
        TimeLimit(env, limit)
