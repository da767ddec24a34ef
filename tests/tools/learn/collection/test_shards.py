# SPDX-License-Identifier: MIT
"""A shard is there whole or not at all."""

from contextlib import suppress
from pathlib import Path

import pytest

from compiler_gym.errors import CacheError, RecordingError
from compiler_gym.tools.learn.collection.shards import ShardWriter, describe

from .test_columns import LAYOUT, SPACES, episode, step


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "shards" / "000000.parquet"


def test_a_shard_is_described_from_its_rows(path: Path) -> None:
    with ShardWriter(path, LAYOUT, SPACES) as writer:
        assert writer.for_copy() is None
        for run in range(300):
            writer.add(
                episode(step(1), step(2, "WorkerCrashedError" if run % 3 == 0 else None)), run
            )
        assert not path.exists()
    found = describe(path)
    assert (found.episodes, found.transitions) == (300, 500)
    assert found.failures == {"WorkerCrashedError": 100}
    assert found.bytes == path.stat().st_size


def test_nothing_is_left_of_a_shard_that_was_not_completed(path: Path) -> None:
    with suppress(KeyboardInterrupt), ShardWriter(path, LAYOUT, SPACES) as writer:
        writer.add(episode(step(1)), 0)
        writer.flush()
        raise KeyboardInterrupt
    assert list(path.parent.glob("*")) == list(path.parent.glob(".*")) == []


def test_a_disk_that_is_full_is_reported_and_nothing_is_left(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = ShardWriter(path, LAYOUT, SPACES)
    monkeypatch.setattr(writer, "_file", _Full())
    writer.add(episode(step(1)), 0)
    with pytest.raises(RecordingError, match="No space left"):
        writer.__exit__(None)
    assert list(path.parent.glob(".*")) == []
    assert not path.exists()


def test_a_damaged_shard_is_reported(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"PAR1 and no more")
    with pytest.raises(CacheError, match=r"is damaged.*delete it"):
        describe(path)


class _Full:
    """A file on a full disk."""

    def write(self, data: bytes) -> None:
        raise OSError(28, "No space left on device")
