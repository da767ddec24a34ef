# SPDX-License-Identifier: MIT
"""Rows hold what was played, and a shard is complete or absent."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from compiler_gym.errors import CacheError, InvalidParameterError, RecordingError
from compiler_gym.spaces import FreeBox, Scalar
from compiler_gym.spaces import Sequence as SequenceSpace
from compiler_gym.tools.learn.collection.shards import (
    STATE,
    CollectedRows,
    Field,
    Layout,
    NamedStep,
    arrow,
    describe,
    write_shard,
)
from compiler_gym.wrappers import EpisodeRecord

SPACES: dict[str, gymnasium.Space[Any]] = {
    "hash": SequenceSpace("hash", dtype=str),
    "size": Scalar("size", dtype=int),
    "array": gymnasium.spaces.Box(-9.0, 9.0, (2, 2), np.float32),
    "numbers": SequenceSpace("numbers", dtype=np.float64),
    "bytes": SequenceSpace("bytes", dtype=bytes),
    "free": FreeBox(-9, 9, "free", dtype=np.int32),
    "table": gymnasium.spaces.Dict({"even": gymnasium.spaces.Discrete(2)}),
}
LAYOUT = Layout(
    tuple(Field.of(n, STATE if n == "hash" else n, s) for n, s in SPACES.items()), ("a", "b")
)


def seen(number: int) -> tuple[object, ...]:
    return (
        f"h{number}", number, np.full((2, 2), number, np.float32),
        np.arange(number, dtype=np.float64), bytes(number), np.full((number, 2), 3, np.int32),
        {"even": number % 2},
    )  # fmt: skip


def step(number: int, error: str | None = None) -> NamedStep:
    return NamedStep(
        [number], [0.5, float(number)], terminated=False, truncated=error is not None,
        no_effect=number == 2, error=error and "it said no", observation=seen(number),
        error_type=error, name=f"action-{number}",
    )  # fmt: skip


def episode(*steps: NamedStep) -> EpisodeRecord:
    record = EpisodeRecord("benchmark://b", "Space", "", 7, seen(0))
    record.steps = list(steps)
    return record


def test_kinds_of_columns_follow_from_the_spaces() -> None:
    kinds = ["text", "number", "array", "list", "bytes", "json", "json"]
    assert [one.kind for one in LAYOUT.fields] == kinds
    assert LAYOUT.fields[2].shape == (2, 2)


def test_episodes_come_back_as_they_were() -> None:
    rows = CollectedRows(LAYOUT, SPACES)
    rows.add(episode(step(1), step(2)), 4)
    rows.add(episode(step(1)), 4)
    rows.add(episode(step(1), step(2, "WorkerCrashedError")), 5)
    table = rows.take()
    assert len(rows) == 0
    assert table["run"].to_pylist() == [4] * 5 + [5] * 2
    assert table["episode"].to_pylist() == [0, 0, 0, 1, 1, 0, 0]
    assert table["next_state"].to_pylist()[:4] == ["h1", "h2", None, "h1"]
    assert Layout.read(table.schema) == LAYOUT
    (run, first), _, (_, failed) = LAYOUT.episodes(table)
    assert (run, first.benchmark, first.action_space, first.seed) == (
        4,
        "benchmark://b",
        "Space",
        7,
    )
    for number, (kept, before) in enumerate(zip(first.steps, (0, 1), strict=True), start=1):
        assert (kept.actions, kept.reward, kept.no_effect) == (
            [number], [0.5, float(number)], number == 2,
        )  # fmt: skip
        assert before == number - 1
        for value, expected in zip(kept.observation, seen(number), strict=True):
            if hasattr(expected, "dtype"):
                assert np.array_equal(np.asarray(value), np.asarray(expected))
            else:
                assert value == expected
    assert [one.error_type for one in failed.steps] == [None, "WorkerCrashedError"]
    assert failed.steps[1].error == "it said no"
    assert failed.steps[1].observation is None


def test_a_program_without_an_episode_is_one_row() -> None:
    record = EpisodeRecord("benchmark://b", "Space", "", 7, None)
    refused = step(0, "BenchmarkInitError")
    refused.actions, refused.observation, refused.reward = [], None, None
    record.steps = [refused]
    rows = CollectedRows(LAYOUT, SPACES)
    rows.add(record, 0)
    (row,) = rows.take().to_pylist()
    assert (row["error"], row["action"], row["state"], row["array"]) == (
        "BenchmarkInitError", None, None, None,
    )  # fmt: skip


def test_a_value_that_does_not_fit_its_column_is_an_error() -> None:
    rows = CollectedRows(LAYOUT, SPACES)
    wrong = episode(step(1))
    wrong.observation = (1.5, *seen(0)[1:])
    rows.add(wrong, 0)
    with pytest.raises(RecordingError, match="cannot store state as string"):
        rows.take()


def test_a_file_of_others_and_a_missing_library_are_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(CacheError, match="not a shard of a collection"):
        Layout.read(arrow().schema([]))
    monkeypatch.setattr("importlib.import_module", _missing)
    with pytest.raises(InvalidParameterError, match=r"need pyarrow.*parquet"):
        arrow()


def _missing(name: str) -> None:
    raise ImportError(name)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "shards" / "000000.parquet"


def test_a_shard_is_described_from_its_rows(path: Path) -> None:
    with write_shard(path, LAYOUT, SPACES) as add:
        for run in range(300):
            add(episode(step(1), step(2, "WorkerCrashedError" if run % 3 == 0 else None)), run)
        assert not path.exists()
    found = describe(path)
    assert (found.episodes, found.transitions) == (300, 500)
    assert found.failures == {"WorkerCrashedError": 100}
    assert found.bytes == path.stat().st_size


def test_nothing_is_left_of_a_shard_that_was_not_completed(path: Path) -> None:
    with suppress(KeyboardInterrupt), write_shard(path, LAYOUT, SPACES) as add:
        add(episode(step(1)), 0)
        raise KeyboardInterrupt
    assert list(path.parent.glob("*")) == list(path.parent.glob(".*")) == []


def test_a_disk_that_is_full_is_reported(path: Path) -> None:
    path.parent.mkdir()
    path.symlink_to("/dev/full")
    with (
        pytest.raises(RecordingError, match="No space left"),
        write_shard(path, LAYOUT, SPACES) as add,
    ):
        add(episode(step(1)), 0)


def test_a_damaged_shard_is_reported(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"PAR1 and no more")
    with pytest.raises(CacheError, match=r"is damaged.*delete it"):
        describe(path)
