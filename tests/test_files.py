# SPDX-License-Identifier: MIT
"""Files are written whole, and a program that was replaced is another one."""

import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import pytest

from compiler_gym.errors import CacheWarning
from compiler_gym.files import (
    KeptDirectory,
    keep,
    read_regular,
    sweep_temporary,
    tool_identity,
    write_whole,
)


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
    kept = KeptDirectory("test")
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


def left_by(pid: int, kind: str) -> str:
    return f"compiler_gym-{kind}-{os.stat('/proc/self/ns/pid').st_ino}-{pid}-x"


def test_directories_of_a_number_that_came_again_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    old, young = tmp_path / left_by(os.getppid(), "a"), tmp_path / left_by(os.getppid(), "b")
    for path in (old, young):
        path.mkdir()
    os.utime(old, (1e9, 1e9))  # long before our parent began
    sweep_temporary()
    assert [path.name for path in tmp_path.iterdir()] == [young.name]


def test_a_directory_of_a_killed_process_goes_at_the_next_start(tmp_path: Path) -> None:
    program = """
import sys
from compiler_gym.files import KeptDirectory, scratch_directory
kept = KeptDirectory("reference")
with scratch_directory("build") as directory:
    open(directory + "/file", "w").close()
    print("ready", flush=True)
    sys.stdin.read()
"""
    variables = os.environ | {"TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", program]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with (
        subprocess.Popen(command, env=variables, **pipes) as killed,  # type: ignore[call-overload]
        subprocess.Popen(command, env=variables, **pipes) as alive,  # type: ignore[call-overload]
    ):
        for process in (killed, alive):
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
        killed.kill()
        killed.wait()
        assert len(list(tmp_path.glob(f"*-{killed.pid}-*"))) == 2
        start = "import compiler_gym; compiler_gym.make('llvm-v0').close()"
        subprocess.run([sys.executable, "-c", start], env=variables, check=True)
        assert list(tmp_path.glob(f"*-{killed.pid}-*")) == []
        assert len(list(tmp_path.glob(f"*-{alive.pid}-*"))) == 2
        alive.communicate()
    assert list(tmp_path.iterdir()) == []


def test_what_a_caller_names_is_read_within_bounds(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 3_000_000)
    assert read_regular(tmp_path / "file") == b"x" * 3_000_000
    assert read_regular("/proc/self/stat")  # its size is said to be 0
    with pytest.raises(OSError, match="at most 2,999,999 bytes, found 3,000,000"):
        read_regular(tmp_path / "file", most=2_999_999)
    with pytest.raises(OSError, match="at most 1 bytes"):
        read_regular("/proc/self/stat", most=1)
    for path, why in (("/dev/zero", "a device"), ("a\0b", "null byte"), ("\ud800", "surrogates")):
        with pytest.raises(OSError, match=why):
            read_regular(path)
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "none")
