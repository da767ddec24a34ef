# SPDX-License-Identifier: MIT
"""Datasets write one at a time, leave nothing where they fail, and say what to do."""

import errno
from pathlib import Path

import pytest

from compiler_gym.datasets.fetching.install import as_dataset_errors, hold
from compiler_gym.errors import DatasetInitError, DownloadFailed


def test_a_lock_and_its_folder_go_where_nothing_was_written(tmp_path: Path) -> None:
    with pytest.raises(KeyError), hold(tmp_path / "a" / "b"):
        raise KeyError("stop")
    assert list(tmp_path.iterdir()) == []
    with hold(tmp_path / "a" / "b"):
        (tmp_path / "a" / "b").touch()
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b"]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    with pytest.raises(DatasetInitError, match=rf"cannot write to {tmp_path}/a"):  # noqa: SIM117
        with hold(tmp_path / "a" / "b"):
            pass


def test_a_full_disk_is_distinguished_from_our_own_errors() -> None:
    with (
        pytest.raises(
            DatasetInitError, match="cannot x: No space left on device; free some space, or"
        ),
        as_dataset_errors("cannot x"),
    ):
        raise OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(DownloadFailed, match="not there"), as_dataset_errors("cannot x"):
        raise DownloadFailed("not there")
