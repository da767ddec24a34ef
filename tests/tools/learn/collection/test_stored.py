# SPDX-License-Identifier: MIT
"""Every transition is read once, in any order that was asked for."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compiler_gym.errors import (
    CacheError,
    CompilerGymError,
    InvalidParameterError,
    UnknownNameError,
)
from compiler_gym.testing import FakeEnv
from compiler_gym.tools.learn.collection import Collection, collect
from compiler_gym.tools.learn.collection.shards import NamedStep
from compiler_gym.tools.learn.collection.stored import differences_in

from .conftest import fake_options


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    folder = tmp_path_factory.mktemp("stored")
    file = folder / "policy.py"
    file.write_text(
        "import random\n"
        "def policy(env):\n"
        "    for _ in range(random.randrange(1, 6)):\n"
        "        env.step(random.randrange(env.action_space.n))\n"
    )
    collect(folder / "store", fake_options(policy=str(file), steps=300, shard_steps=50))
    return Collection(folder / "store")


NAMES = ("run", "step", "state", "next_state", "vector", "next_vector", "action", "reward_number")


def rows(batches: Any) -> list[tuple[Any, ...]]:
    return [row for batch in batches for row in zip(*map(_hashable, batch.values()), strict=True)]


def _hashable(values: np.ndarray[Any, Any]) -> Sequence[Any]:
    return [tuple(one) if getattr(one, "shape", ()) else one for one in values]


def test_transitions_are_what_the_policy_did(stored: Collection) -> None:
    found = rows(stored.transitions(NAMES, batch_size=7))
    assert len(found) == stored.summary.transitions > 60
    expected = [
        (run, place, before[0], step.observation[0], before[2][0], step.observation[2][0])
        for run, episode in stored.episodes()
        for place, (before, step) in enumerate(episode.transitions())
    ]
    assert [(*row[:4], row[4][0], row[5][0]) for row in found] == expected
    assert all(row[7] == row[2] - row[3] for row in found)


def test_batches_have_the_size_that_was_requested(stored: Collection) -> None:
    sizes = [len(batch["action_number"]) for batch in stored.transitions(batch_size=16)]
    assert set(sizes[:-1]) == {16}
    assert sum(sizes) == stored.summary.transitions
    batch = next(stored.transitions(batch_size=16))
    assert set(batch) == {
        "action_number", "reward_number", "terminated", "state", "next_state", "half",
        "next_half", "vector", "next_vector",
    }  # fmt: skip
    assert batch["next_vector"].shape == (16, 3)


@pytest.mark.parametrize("buffer", [10, 10**6])
def test_a_shuffle_has_every_transition_once_and_repeats(stored: Collection, buffer: int) -> None:
    def shuffled(**given: Any) -> list[tuple[Any, ...]]:
        return rows(stored.transitions(NAMES, batch_size=9, buffer=buffer, **given))

    plain = rows(stored.transitions(NAMES))
    first = shuffled(seed=1)
    assert first != plain
    assert sorted(first) == sorted(plain)
    assert first == shuffled(seed=1) != shuffled(seed=1, epoch=1)


def test_parts_share_no_transition_and_lose_none(stored: Collection) -> None:
    for seed in (None, 3):
        parts = [rows(stored.transitions(NAMES, seed=seed, part=(i, 4))) for i in range(4)]
        whole = sorted(row for part in parts for row in part)
        assert whole == sorted(rows(stored.transitions(NAMES)))


def test_arrow_reads_all_rows(stored: Collection) -> None:
    table = stored.dataset().to_table(columns=["run", "state"])
    assert len(table) == stored.summary.transitions + stored.summary.episodes


def test_an_unreadable_file_is_reported(stored: Collection, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"vectro.*vector"):
        next(stored.transitions(["vectro"]))
    with pytest.raises(InvalidParameterError, match=r"part \(4, 4\) must be"):
        next(stored.transitions(part=(4, 4)))
    with pytest.raises(InvalidParameterError, match="does not hold a collection"):
        Collection(tmp_path)
    collect(tmp_path, fake_options(steps=5))
    (tmp_path / "shards/000000.parquet").unlink()
    with pytest.raises(CacheError, match="holds no complete shard"):
        next(Collection(tmp_path).transitions())


@pytest.mark.parametrize(
    "offset", [0, *(pytest.param(bit, marks=pytest.mark.slow) for bit in range(1, 8))]
)
def test_a_flipped_bit_is_noticed_or_changes_nothing_that_is_read(
    stored: Collection, tmp_path: Path, offset: int
) -> None:
    folder = tmp_path / "store"
    shutil.copytree(stored.path, folder)

    def read() -> list[object]:
        again = Collection(folder)
        episodes = [(run, repr(episode)) for run, episode in again.episodes()]
        batches = rows(again.transitions(NAMES))
        return [again.options, again.summary, episodes, batches, again.dataset().count_rows()]

    before = repr(read())
    noticed = 0
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        whole = file.read_bytes()
        for bit in range(offset, len(whole) * 8, max(len(whole) // 5, 1) * 8 + 1):
            flipped = bytearray(whole)
            flipped[bit // 8] ^= 1 << bit % 8
            file.write_bytes(flipped)
            try:
                assert repr(read()) == before, (file, bit)
            except CompilerGymError:
                noticed += 1
        file.write_bytes(whole)
    assert noticed


def test_verification_reads_every_shard(stored: Collection, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    shutil.copytree(stored.path, folder)
    assert Collection(folder).verify(1) == []
    last = Collection(folder).shards[-1]
    data = bytearray(last.read_bytes())
    data[len(data) // 2] ^= 1
    last.write_bytes(data)
    with pytest.raises(CacheError, match=r"damaged.*resume the collection"):
        Collection(folder).verify(0)


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
