# SPDX-License-Identifier: MIT
"""Files that are written completely or not at all."""

import os
import signal
import time
from pathlib import Path

import pytest

from compiler_gym.errors import CacheError, CacheWarning, RecordingError
from compiler_gym.files import (
    keep,
    make_folder,
    replace_directory,
    replace_file,
    tool_identity,
    write_whole,
    writing,
)


def test_a_directory_appears_as_a_whole(tmp_path: Path) -> None:
    target = tmp_path / "d"
    with replace_directory(target) as directory:
        (directory / "x").write_bytes(b"1")
        assert not target.exists()
    assert (target / "x").read_bytes() == b"1"
    with replace_directory(target) as directory:
        (directory / "y").write_bytes(b"2")
        assert (target / "x").exists()
    assert [path.name for path in target.iterdir()] == ["y"]
    assert [path.name for path in tmp_path.iterdir()] == ["d"]


def test_an_exception_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "d"
    target.mkdir()
    (target / "old").write_bytes(b"1")
    with pytest.raises(KeyError), replace_directory(target) as directory:  # noqa: PT012
        (directory / "new").write_bytes(b"2")
        raise KeyError("stop")
    assert [path.name for path in target.iterdir()] == ["old"]
    assert [path.name for path in tmp_path.iterdir()] == ["d"]


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    target = tmp_path / "f"
    target.write_bytes(b"old")
    with pytest.raises(KeyError), replace_file(target) as partial:  # noqa: PT012
        partial.write_bytes(b"half")
        raise KeyError("stop")
    assert target.read_bytes() == b"old"
    with replace_file(target) as partial:
        partial.write_bytes(b"new")
    assert target.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [target]


def test_leftovers_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    target = tmp_path / "d"
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        with replace_directory(target) as directory:
            (directory / "half").write_bytes(b"1")
            os.write(write, b"x")
            time.sleep(60)
        os._exit(0)
    assert os.read(read, 1) == b"x"
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(read)
    os.close(write)
    assert not target.exists()
    assert len(list(tmp_path.glob(".d.partial-*"))) == 1
    with replace_directory(target) as directory:
        (directory / "whole").write_bytes(b"2")
    assert [path.name for path in tmp_path.iterdir()] == ["d"]


def test_a_replacement_cut_between_its_renames_is_undone(tmp_path: Path) -> None:
    old = tmp_path / ".d.replaced"
    old.mkdir()
    (old / "x").write_bytes(b"1")
    with pytest.raises(KeyError), replace_directory(tmp_path / "d"):
        raise KeyError("stop")
    assert (tmp_path / "d/x").read_bytes() == b"1"


def test_a_file_is_written_with_its_directory(tmp_path: Path) -> None:
    write_whole(tmp_path / "a" / "b", b"1")
    write_whole(tmp_path / "a" / "b", b"2")
    assert [p.read_bytes() for p in (tmp_path / "a").iterdir()] == [b"2"]


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    with pytest.raises(OSError, match=r"\w"):
        write_whole(tmp_path / "b", b"1")
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


def test_lost_attributes_cause_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPILER_GYM_CACHE", str(tmp_path))
    keep(tmp_path / "a" / "b", b"1")
    assert (tmp_path / "a" / "b").read_bytes() == b"1"
    with pytest.warns(CacheWarning, match=f"cannot write the cache {tmp_path}.*COMPILER_GYM_CACHE"):
        keep(tmp_path / "a" / "b" / "c", b"1")


def test_a_replaced_program_has_another_identity(tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text("1")
    before = tool_identity(str(tool))
    assert tool_identity(str(tool)) == before
    tool.write_text("12")
    assert tool_identity(str(tool)) != before


def test_a_file_has_the_permissions_of_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        write_whole(tmp_path / "a", b"1")
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o644


def test_a_link_stays_a_link_and_a_file_keeps_its_permissions(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"1")
    real.chmod(0o640)
    link.symlink_to("real")
    write_whole(link, b"2")
    assert link.is_symlink()
    assert real.read_bytes() == b"2"
    assert real.stat().st_mode & 0o777 == 0o640
    hanging = tmp_path / "hanging"
    hanging.symlink_to("later/made")
    write_whole(hanging, b"3")
    assert (tmp_path / "later" / "made").read_bytes() == b"3"


def test_a_pipe_and_a_device_are_written_and_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reading = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_whole(tmp_path / "pipe", b"1")
    assert os.read(reading, 9) == b"1"
    os.close(reading)
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]
    (tmp_path / "null").symlink_to("/dev/null")
    write_whole(tmp_path / "null", b"1")
    assert Path("/dev/null").is_char_device()


def test_a_name_may_be_as_long_as_the_disk_allows(tmp_path: Path) -> None:
    write_whole(tmp_path / ("ü" * 127), b"1")
    assert len(list(tmp_path.iterdir())) == 1


def test_folders_that_were_made_in_vain_go_again(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(KeyError), make_folder(tmp_path / "there" / "a" / "b"):
        raise KeyError("stop")
    with pytest.raises(OSError, match=r"directory|permitted"):  # noqa: PT012
        write_whole(tmp_path / "there" / "c" / "d", b"1")
        write_whole(tmp_path / "there" / "c", b"1")
    assert sorted(path.name for path in (tmp_path / "there").iterdir()) == ["c"]
    with make_folder(tmp_path / "there" / "a"):
        pass
    assert (tmp_path / "there" / "a").is_dir()


def test_a_refusal_by_the_system_becomes_an_error_with_advice(tmp_path: Path) -> None:
    path = tmp_path / "no" / "file"
    expected = f"cannot write {path}: No such file or directory: choose another path"
    with pytest.raises(CacheError) as raised, writing(path, CacheError):
        path.write_text("")
    assert str(raised.value) == expected


def test_an_error_of_ours_passes(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"^full$"), writing(tmp_path, CacheError):
        raise RecordingError("full")
