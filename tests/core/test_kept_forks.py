# SPDX-License-Identifier: MIT
"""Kept environments: few, and all closed at the end."""

from collections.abc import Iterator

import pytest
from search.puzzle import make_trapped_puzzle

from compiler_gym.core import CompilerEnv, KeptForks, Weight
from compiler_gym.errors import InvalidParameterError
from compiler_gym.search.tree import State


@pytest.fixture
def env() -> Iterator[CompilerEnv]:
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
    for env in envs[:3]:
        kept_forks.keep(State(), env, Weight())
    assert [env.is_open for env in envs] == [False, True, True, True]
    kept_forks.close()
    kept_forks.keep(State(), envs[3], Weight())
    assert not any(env.is_open for env in envs)


@pytest.mark.parametrize(("capacity", "memory"), [(-1, 1.0), (1, -1.0), (1, float("nan"))])
def test_bounds_below_zero_are_refused(capacity: int, memory: float) -> None:
    with pytest.raises(InvalidParameterError, match="at least 0"):
        KeptForks(capacity, memory)


def test_memory_of_kept_processes_is_bounded(env: CompilerEnv) -> None:
    weight = Weight()
    kept_forks = KeptForks[State](100, 40 << 20)
    states = [State(key) for key in range(10)]
    for state in states:
        kept_forks.keep(state, env.fork(), weight)
    assert len(kept_forks) == 10
    assert 0 < weight.bytes < 4 << 20  # a forked interpreter that did nothing
    weight.bytes = 16 << 20
    kept_forks.keep(State("next"), env.fork(), weight)
    assert len(kept_forks) == 2
    assert states[-1] in kept_forks
    assert not any(state in kept_forks for state in states[:-1])
    kept_forks.close()
    assert len(kept_forks) == 0


def test_nothing_is_kept_where_no_memory_is_given(env: CompilerEnv) -> None:
    assert not KeptForks(8, 0).has_room
    assert not KeptForks(0).has_room
    assert KeptForks(1).has_room
