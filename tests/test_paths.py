# SPDX-License-Identifier: MIT
"""Files are kept where the environment says, and nothing is made by asking."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler_gym.paths import cache_path, site_data_path, transient_cache_path

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


def test_places_are_the_platforms_own_and_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
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
    monkeypatch.setattr("compiler_gym.paths.os.access", lambda *args: False)
    monkeypatch.setattr("compiler_gym.paths.tempfile.gettempdir", lambda: str(tmp_path))
    assert transient_cache_path().parent == tmp_path
