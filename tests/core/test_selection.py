# SPDX-License-Identifier: MIT
"""What is chosen of the spaces there are, and which actions they take."""

import copy
import pickle
from collections.abc import Callable

import numpy as np
import pytest

from compiler_gym.errors import InvalidActionError, SessionNotFound, UnknownNameError
from compiler_gym.testing import FakeEnv

MakeEnv = Callable[..., FakeEnv]


@pytest.mark.parametrize("action", [1, np.int64(1), np.int8(1)])
def test_an_integer_of_any_kind_is_an_action(make_env: MakeEnv, action: int) -> None:
    env = make_env(observation_space="number")
    env.reset()
    assert env.step(action)[0] == 14
    assert env.actions == [1]


@pytest.mark.parametrize("action", [-1, 5, 1.0, "add", None, [1], np.array([1, 2]), float("nan")])
def test_what_is_no_action_is_refused_before_it_is_sent(make_env: MakeEnv, action: object) -> None:
    env = make_env(observation_space="number")
    env.reset()
    with pytest.raises(InvalidActionError, match="is not an action of"):
        env.step(action)
    with pytest.raises(InvalidActionError, match="is not an action of"):
        env.multistep([0, action])
    assert env.actions == []
    assert env.step(0)[0] == 8


def test_an_action_space_may_shrink_until_the_episode_ends(make_env: MakeEnv) -> None:
    env = make_env(action_space="Menu", observation_space="number")
    for _ in range(2):
        number, _ = env.reset()
        sizes = [env.action_space.n]
        terminated = False
        while not terminated:
            number, _, terminated, truncated, info = env.step(env.action_space.n - 1)
            assert not truncated
            assert info["new_action_space"] is not terminated
            sizes.append(env.action_space.n)
        assert sizes == [4, 3, 2, 1, 1]
        assert number == 7 + 4 + 3 + 2 + 1
        assert not env.in_episode
        with pytest.raises(SessionNotFound, match="reset"):
            env.step(0)


def test_the_program_may_decide_the_first_action_space(make_env: MakeEnv) -> None:
    env = make_env(action_space="Menu")
    env.reset(benchmark="benchmark://fake-v0/7?menu=9")
    assert env.action_space.n == 9
    env.step(8)
    assert env.action_space.n == 8
    env.reset(benchmark="benchmark://fake-v0/7")
    assert env.action_space.n == 4


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_have_the_changed_action_space_and_their_own(
    make_env: MakeEnv, duplicate: Callable[[FakeEnv], FakeEnv]
) -> None:
    env = make_env(action_space="Menu", observation_space="number")
    env.reset(benchmark="benchmark://fake-v0/7?menu=9")
    env.step(8)
    with duplicate(env) as twin:
        assert twin.action_space.n == 8
        assert twin.step(7)[0] == 7 + 9 + 8
        assert (twin.action_space.n, env.action_space.n) == (7, 8)
        twin.reset(benchmark="benchmark://fake-v0/1")
        assert twin.action_space.n == 4
        assert env.step(0)[0] == 7 + 9 + 1


def test_the_action_space_changes_at_the_next_reset(make_env: MakeEnv) -> None:
    env = make_env()
    env.reset(action_space="Menu")
    assert env.action_space.n == 4
    env.reset(options={"action_space": "Safe"})
    assert env.action_space.n == 5
    with pytest.raises(UnknownNameError, match="there are Safe, Behaviours, Composite, Menu"):
        env.reset(action_space="Passes")
