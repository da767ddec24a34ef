# SPDX-License-Identifier: MIT
"""Kept environments: few, and all closed at the end."""

from collections.abc import Iterator

import pytest

from compiler_gym.core import CompilerEnv
from compiler_gym.search.snapshots import Snapshots, Weight
from compiler_gym.search.tree import State
from search.puzzle import make_trapped_puzzle


@pytest.fixture
def env() -> Iterator[CompilerEnv]:
    with make_trapped_puzzle() as made:
        made.observation_space = "IrHash"
        made.reset()
        yield made


def test_snapshots_close_the_oldest_and_everything_at_the_end() -> None:
    class Env:
        is_open = True

        def close(self) -> None:
            self.is_open = False

    snapshots = Snapshots(2)
    envs = [Env() for _ in range(4)]
    for env in envs[:3]:
        snapshots.keep(State(), env, Weight())
    assert [env.is_open for env in envs] == [False, True, True, True]
    snapshots.close()
    snapshots.keep(State(), envs[3], Weight())
    assert not any(env.is_open for env in envs)
