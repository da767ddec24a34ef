# SPDX-License-Identifier: MIT
"""Errors name the successors of old datasets, and old ways to manage datasets still work."""

import tarfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import compiler_gym
from compiler_gym.compat import old_datasets
from compiler_gym.datasets import (
    Datasets,
    FilesDataset,
    TarDataset,
    activate,
    deactivate,
    delete,
    require,
)
from compiler_gym.errors import UnknownNameError

LLVM_10: dict[str, str] = vars(old_datasets)["_LLVM_10"]
NEWER: dict[str, str] = vars(old_datasets)["_NEWER"]


def test_the_error_of_every_old_dataset_says_what_stands_for_it() -> None:
    with compiler_gym.make("llvm-v0") as env:
        for old, today in {**LLVM_10, **NEWER}.items():
            assert env.datasets[today].name == f"benchmark://{today}"
            for name in (old, f"benchmark://{old}"):
                with pytest.raises(UnknownNameError, match=f"use benchmark://{today} instead"):
                    env.datasets[name]
            with pytest.raises(LookupError, match=f"use benchmark://{today} instead"):
                env.reset(benchmark=f"{old}/1")


def test_a_dataset_that_never_was_or_that_has_no_heir_gets_no_advice() -> None:
    assert old_datasets.advice_for("benchmark://github-v0", []) == ""
    assert old_datasets.advice_for("benchmark://mine-v0", ["benchmark://mine-v1"]) == ""


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
