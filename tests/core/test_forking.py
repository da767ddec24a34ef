# SPDX-License-Identifier: MIT
"""Forks, and the environments kept at states."""

import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from search.puzzle import make_trapped_puzzle

from compiler_gym.core import CompilerEnv, KeptForks, Weight, fork_wrapped
from compiler_gym.errors import InvalidParameterError
from compiler_gym.search.tree import State
from compiler_gym.testing import FakeEnv, descendants, wait_until
from tests.stand_ins import stand_in

MakeEnv = Callable[..., FakeEnv]


@pytest.fixture
def env(make_env: MakeEnv) -> FakeEnv:
    made = make_env(
        observation_space="packed", reward_space="number", benchmark="benchmark://fake-v0/7"
    )
    made.reset()
    return made


def walked(env: Any, *actions: int) -> Any:
    env.reset()
    for action in actions:
        env.step(action)
    return env


def assert_same_step(one: Any, other: Any, action: int) -> None:
    (seen, reward, *rest, info), (seen_2, reward_2, *rest_2, info_2) = (
        each.step(action) for each in (one, other)
    )
    np.testing.assert_array_equal(seen, seen_2)
    assert (reward, rest) == (reward_2, rest_2)
    assert info.keys() == info_2.keys()


@pytest.mark.parametrize(
    "wrap",
    [
        gymnasium.wrappers.NormalizeReward,
        gymnasium.wrappers.NormalizeObservation,
        gymnasium.wrappers.RecordEpisodeStatistics,
        stand_in(
            lambda env: gymnasium.wrappers.TimeAwareObservation(
                gymnasium.wrappers.TimeLimit(env, 9)
            )
        ),
        stand_in(lambda env: gymnasium.wrappers.TimeLimit(env, 4)),
        stand_in(
            lambda env: gymnasium.wrappers.TransformReward(env, lambda reward: 2 * float(reward))
        ),
        stand_in(
            lambda env: gymnasium.wrappers.TransformObservation(
                env, lambda seen: seen[:2], gymnasium.spaces.Box(-1e12, 1e12, (2,), np.int64)
            )
        ),
        stand_in(
            lambda env: gymnasium.wrappers.TransformAction(
                env, lambda action: (action + 1) % 3, env.action_space
            )
        ),
        gymnasium.wrappers.OrderEnforcing,
        stand_in(
            lambda env: gymnasium.wrappers.NormalizeReward(gymnasium.wrappers.TimeLimit(env, 5))
        ),
    ],
)
def test_a_fork_continues_from_its_parents_state(env: FakeEnv, wrap: Callable[..., Any]) -> None:
    wrapped = walked(wrap(env), 0, 1)
    fork = fork_wrapped(wrapped)
    with fork.unwrapped:
        assert type(fork) is type(wrapped)
        assert fork.unwrapped is not env
        for action in (2, 0, 1):
            assert_same_step(wrapped, fork, action)


def test_counters_of_a_wrapper_are_separate_in_a_fork(env: FakeEnv) -> None:
    wrapped = walked(gymnasium.wrappers.RecordEpisodeStatistics(env), 0, 0)
    with fork_wrapped(wrapped).unwrapped:
        fork = fork_wrapped(wrapped)
        with fork.unwrapped:
            fork.step(0)
            assert (wrapped.episode_lengths, fork.episode_lengths) == (2, 3)
            assert (wrapped.episode_returns, fork.episode_returns) == (-2, -3)
            fork.return_queue.append(5.0)
            assert not wrapped.return_queue


def test_a_time_limit_is_where_it_was_and_apart(env: FakeEnv) -> None:
    wrapped = walked(gymnasium.wrappers.TimeLimit(env, 3), 0, 0)
    fork = fork_wrapped(wrapped)
    with fork.unwrapped:
        assert fork.step(0)[3]
        assert wrapped.step(0)[3]
        fork.reset()
        assert not fork.step(0)[3]


class Holder(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Holds what is below at every depth, as wrappers do that ask it things."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        self.base: Any = env.unwrapped
        self.chain = [env, env.unwrapped]
        self.said: list[str] = ["before"]


def test_references_of_a_wrapper_point_to_the_forked_environment(env: FakeEnv) -> None:
    wrapped = walked(Holder(Holder(gymnasium.wrappers.TimeLimit(env, 9))), 0)
    fork = fork_wrapped(wrapped)
    with fork.unwrapped:
        assert fork.base is fork.env.base is fork.unwrapped
        assert fork.chain[0] is fork.env
        assert fork.env.chain[0] is fork.env.env
        fork.said.append("after")
        fork.step(0)
        assert (wrapped.said, wrapped.base.actions) == (["before"], [0])
        assert fork.base.actions == [0, 0]


class Locked(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Holds what nobody can copy."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        self.lock = threading.Lock()


def test_a_wrapper_that_cannot_be_copied_leaves_no_fork_behind() -> None:
    with FakeEnv() as env:
        wrapped = walked(Locked(gymnasium.wrappers.TimeLimit(env, 9)), 0)
        before = descendants(os.getpid())
        with pytest.raises(TypeError, match=r"cannot pickle '_thread\.lock' object") as caught:
            fork_wrapped(wrapped)
        assert caught.tb, "as long as it lives, nothing is collected"
        assert wait_until(lambda: descendants(os.getpid()) == before)
        assert wrapped.unwrapped.actions == [0]
        assert wrapped.step(0)


@pytest.mark.parametrize("thing", [gymnasium.make("CartPole-v1").unwrapped, None, "llvm-v0"])
def test_a_foreign_environment_cannot_be_forked(thing: Any) -> None:
    with pytest.raises(InvalidParameterError, match=f"{type(thing).__name__} cannot be forked"):
        fork_wrapped(thing)


def test_a_wrapper_around_another_library_cannot_be_forked() -> None:
    with pytest.raises(InvalidParameterError, match="CartPoleEnv cannot be forked"):
        fork_wrapped(gymnasium.wrappers.TimeLimit(gymnasium.make("CartPole-v1").unwrapped, 3))


def test_an_environment_without_wrappers_is_forked_itself(env: FakeEnv) -> None:
    with fork_wrapped(env) as fork:
        assert type(fork) is FakeEnv
        assert fork.step(0)[0].tolist() == [8, 64, 1]
        assert env.actions == []


@pytest.fixture
def puzzle() -> Iterator[CompilerEnv]:
    with make_trapped_puzzle() as made:
        made.observation_space = "IrHash"
        made.reset()
        yield made


def test_kept_forks_close_the_oldest_and_everything_at_the_end() -> None:
    class Env:
        is_open = True

        def close(self) -> None:
            self.is_open = False

    kept_forks = KeptForks[State](2)
    envs = [Env() for _ in range(4)]
    for puzzle in envs[:3]:
        kept_forks.keep(State(), puzzle, Weight())
    assert [puzzle.is_open for puzzle in envs] == [False, True, True, True]
    kept_forks.close()
    kept_forks.keep(State(), envs[3], Weight())
    assert not any(puzzle.is_open for puzzle in envs)


@pytest.mark.parametrize(("capacity", "memory"), [(-1, 1.0), (1, -1.0), (1, float("nan"))])
def test_bounds_below_zero_are_refused(capacity: int, memory: float) -> None:
    with pytest.raises(InvalidParameterError, match="at least 0"):
        KeptForks(capacity, memory)


def test_memory_of_kept_processes_is_bounded(puzzle: CompilerEnv) -> None:
    weight = Weight()
    kept_forks = KeptForks[State](100, 40 << 20)
    states = [State(key) for key in range(10)]
    for state in states:
        kept_forks.keep(state, puzzle.fork(), weight)
    assert len(kept_forks) == 10
    assert 0 < weight.bytes < 4 << 20  # a forked interpreter that did nothing
    weight.bytes = 16 << 20
    kept_forks.keep(State("next"), puzzle.fork(), weight)
    assert len(kept_forks) == 2
    assert states[-1] in kept_forks
    assert not any(state in kept_forks for state in states[:-1])
    kept_forks.close()
    assert len(kept_forks) == 0


def test_nothing_is_kept_where_no_memory_is_given(puzzle: CompilerEnv) -> None:
    assert not KeptForks(8, 0).has_room
    assert not KeptForks(0).has_room
    assert KeptForks(1).has_room
