# SPDX-License-Identifier: MIT
"""Files are kept where the environment says, and nothing is made by asking."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler_gym import random_search
from compiler_gym.files.paths import (
    cache_path,
    create_user_logs_dir,
    logs_path,
    site_data_path,
    transient_cache_path,
)
from compiler_gym.testing import FakeEnv
from tests.stand_ins import always

PLACES = [
    (cache_path, "COMPILER_GYM_CACHE"),
    (site_data_path, "COMPILER_GYM_SITE_DATA"),
    (transient_cache_path, "COMPILER_GYM_TRANSIENT_CACHE"),
]


@pytest.mark.parametrize(("path", "variable"), PLACES)
def test_a_variable_moves_a_place_and_an_empty_one_does_not(
    path: Callable[..., Path], variable: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(variable, str(tmp_path / "there"))
    assert path() == tmp_path / "there"
    assert path("a/b") == tmp_path / "there" / "a/b"
    assert not (tmp_path / "there").exists()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv(variable, "~/mine")
    assert path() == tmp_path / "mine"
    monkeypatch.delenv(variable)
    usual = path()
    monkeypatch.setenv(variable, "")
    assert path() == usual
    assert usual.is_absolute()


def test_places_are_the_platforms_own_and_distinguished(monkeypatch: pytest.MonkeyPatch) -> None:
    for _, variable in PLACES:
        monkeypatch.delenv(variable)
    found = [path() for path, _ in PLACES]
    assert len(set(found)) == 3
    assert all("compiler_gym" in path.name for path in found)
    assert str(os.getuid()) in found[2].name


def test_where_memory_holds_no_files_the_temporary_directory_does(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("COMPILER_GYM_TRANSIENT_CACHE")
    monkeypatch.setattr("compiler_gym.files.paths.os.access", always(False))
    monkeypatch.setattr("compiler_gym.files.paths.tempfile.gettempdir", lambda: str(tmp_path))
    assert transient_cache_path().parent == tmp_path


def test_logs_are_below_the_directory_that_the_variable_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPILER_GYM_LOGS", str(tmp_path / "logs"))
    assert logs_path("runs") == tmp_path / "logs" / "runs"
    first, second = create_user_logs_dir("search"), create_user_logs_dir("search", tmp_path)
    assert first.parent == second.parent == tmp_path / "logs" / "search"
    assert first != second
    assert (second.parent / "latest").resolve() == second
    assert sorted(second.parent.iterdir()) == sorted([first, second, second.parent / "latest"])


def test_without_the_variable_logs_are_in_the_home_directory_or_where_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COMPILER_GYM_LOGS", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert logs_path() == tmp_path / "logs" / "compiler_gym"
    assert create_user_logs_dir("a").parent == tmp_path / "logs" / "compiler_gym" / "a"
    assert create_user_logs_dir("a", tmp_path / "b").parent == tmp_path / "b" / "a"


def test_a_search_that_names_no_directory_writes_its_logs_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPILER_GYM_LOGS", str(tmp_path))
    random_search(lambda: FakeEnv(reward_space="number"), total_runtime=0.2, nproc=1)
    latest = tmp_path / "random_search" / "latest"
    assert {file.name for file in latest.iterdir()} == {"progress.jsonl", "results.json"}
