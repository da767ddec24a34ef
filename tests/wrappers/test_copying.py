# SPDX-License-Identifier: MIT
"""Forks, deep copies, pickles and undone steps ask a wrapper's parts the same question."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.testing import FakeEnv
from compiler_gym.wrappers import CompilerEnvWrapper, ForkOnStep, Lasting
from compiler_gym.wrappers.copying import Shared
from tests.stand_ins import stand_in


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
