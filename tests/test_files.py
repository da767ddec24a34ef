# SPDX-License-Identifier: MIT
"""Files are written whole, and a program that was replaced is another one."""

import os
import warnings
from pathlib import Path

import pytest

from compiler_gym.errors import CacheWarning
from compiler_gym.files import KeptDirectory, keep, tool_identity, write_whole


def test_a_file_is_written_with_its_directory(tmp_path: Path) -> None:
    write_whole(tmp_path / "a" / "b", b"1")
    write_whole(tmp_path / "a" / "b", b"2")
    assert [p.read_bytes() for p in (tmp_path / "a").iterdir()] == [b"2"]


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    with pytest.raises(OSError, match=r"\w"):
        write_whole(tmp_path / "b", b"1")
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


def test_what_cannot_be_kept_is_warned_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPILER_GYM_CACHE", str(tmp_path))
    keep(tmp_path / "a" / "b", b"1")
    assert (tmp_path / "a" / "b").read_bytes() == b"1"
    with pytest.warns(CacheWarning, match=f"{tmp_path} cannot be written.*COMPILER_GYM_CACHE"):
        keep(tmp_path / "a" / "b" / "c", b"1")


def test_a_kept_directory_goes_with_its_object_and_without_a_warning() -> None:
    kept = KeptDirectory("compiler_gym-test-")
    (kept.path / "inner").mkdir()
    path = kept.path
    child = os.fork()
    if child == 0:
        del kept
        os._exit(0)
    os.waitpid(child, 0)
    assert path.is_dir()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        del kept
    assert not path.exists()


def test_a_replaced_program_has_another_identity(tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text("1")
    before = tool_identity(str(tool))
    assert tool_identity(str(tool)) == before
    tool.write_text("12")
    assert tool_identity(str(tool)) != before


def test_a_file_may_be_read_by_whom_the_user_lets(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        write_whole(tmp_path / "a", b"1")
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o644
