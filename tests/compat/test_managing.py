# SPDX-License-Identifier: MIT
"""Old ways to manage datasets do what they did, and say what is used now."""

import tarfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from compiler_gym.datasets import (
    Datasets,
    FilesDataset,
    TarDataset,
    activate,
    deactivate,
    delete,
    require,
)


@pytest.fixture
def env(tmp_path: Path) -> SimpleNamespace:
    """Something with datasets: one of an archive, not installed, and one of files."""
    (tmp_path / "a.txt").write_text("a program")
    with tarfile.open(tmp_path / "a.tar.bz2", "w:bz2") as archive:
        archive.add(tmp_path / "a.txt", "a.txt")
    archived = TarDataset(
        name="benchmark://archived-v0",
        description="one program",
        license="MIT",
        tar_urls=[(tmp_path / "a.tar.bz2").as_uri()],
        site_data_base=tmp_path / "site",
    )
    (tmp_path / "files").mkdir()
    files = FilesDataset(
        name="benchmark://files-v0",
        description="none",
        license="MIT",
        dataset_root=tmp_path / "files",
    )
    return SimpleNamespace(datasets=Datasets([archived, files]))


def test_an_existing_file_is_not_fetched_again(env: Any) -> None:
    with pytest.warns(DeprecationWarning, match=r"install\(\)"):
        assert require(env, "benchmark://files-v0") is False


def test_activation_does_nothing(env: Any) -> None:
    with pytest.warns(DeprecationWarning, match="does nothing"):
        assert activate(env, "benchmark://files-v0") is False
    with pytest.warns(DeprecationWarning, match="does nothing"):
        assert deactivate(env, "benchmark://files-v0") is False
    assert len(list(env.datasets)) == 2


def test_a_missing_file_is_not_deleted(env: Any) -> None:
    with pytest.warns(DeprecationWarning, match=r"uninstall\(\)"):
        assert delete(env, "benchmark://archived-v0") is False
