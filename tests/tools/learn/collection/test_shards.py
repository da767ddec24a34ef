# SPDX-License-Identifier: MIT
"""A shard is there whole or not at all."""

from contextlib import suppress
from pathlib import Path

import pytest

from compiler_gym.errors import CacheError, RecordingError
from compiler_gym.tools.learn.collection.shards import describe, write_shard

from .test_columns import LAYOUT, SPACES, episode, step


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
