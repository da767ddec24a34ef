# SPDX-License-Identifier: MIT
"""Episodes play again, and one that does not is told by its first difference."""

from pathlib import Path

import pytest

from compiler_gym.testing import FakeEnv
from compiler_gym.tools.learn.collection import Collection, collect
from compiler_gym.tools.learn.collection.columns import NamedStep
from compiler_gym.tools.learn.collection.replaying import differences_in

from .conftest import fake_options


def test_a_collection_plays_again(tmp_path: Path) -> None:
    collect(tmp_path, fake_options(observe=("vector", "summary", "clock", "blob")))
    assert Collection(tmp_path).verify(50) == []


def test_another_compiler_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    collect(tmp_path, fake_options())
    collection = Collection(tmp_path)
    found = collection.verify(3, seed=1)
    assert found == []
    episodes = list(collection.episodes())[:2]
    step = episodes[0][1].steps[1]
    step.observation = (10**6, *step.observation[1:])
    last = episodes[1][1].steps[-1]
    assert isinstance(last, NamedStep)
    last.error_type, last.error = "CompilerFatalError", "it said no"
    first, second = differences_in(episodes, collection.layout, collection.options)
    assert (first.run, first.step, first.column, first.kept) == (0, 2, "state", 10**6)
    assert (second.step, second.column, second.kept) == (5, "error", "CompilerFatalError")
    assert "run 0, benchmark://fake-v0/" in str(first)
    monkeypatch.setattr(FakeEnv, "step", _refusing)
    assert "lost" in str(next(differences_in(episodes, collection.layout, collection.options)))


def _refusing(self: FakeEnv, *arguments: object) -> object:
    from compiler_gym.errors import InvalidActionError

    raise InvalidActionError("lost")


def test_actions_without_names_and_failures_play_again(tmp_path: Path) -> None:
    options = fake_options(action_space="Composite", steps=20)
    collect(tmp_path / "composite", options)
    assert Collection(tmp_path / "composite").verify(10) == []
    file = tmp_path / "crash.py"
    file.write_text("def policy(env): env.step(env.action_space['segfault'])\n")
    collect(
        tmp_path / "crash",
        fake_options(action_space="Behaviours", policy=str(file), steps=5),
    )
    assert Collection(tmp_path / "crash").verify(10) == []
