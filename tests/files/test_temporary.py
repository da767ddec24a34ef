# SPDX-License-Identifier: MIT
"""Temporary directories outlive nobody."""

import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import pytest

from compiler_gym.files import KeptDirectory, new_scratch
from compiler_gym.files.temporary import remove_tree, sweep_temporary


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


def test_directories_differ_and_belong_to_this_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPILER_GYM_TRANSIENT_CACHE", str(tmp_path))
    one, two = new_scratch("workers"), new_scratch("workers")
    assert one != two
    assert one.parent == tmp_path
    assert f"-{os.getpid()}-" in one.name
    assert not one.exists()


def test_only_what_the_dead_left_is_removed(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    space = os.stat("/proc/self/ns/pid").st_ino
    dead, alive = f"workers-{space}-{ended.pid}-0", f"workers-{space}-{os.getpid()}-0"
    elsewhere = f"workers-{space + 1}-{ended.pid}-0"
    for name in (dead, alive, elsewhere, "something-else"):
        (tmp_path / name / "inner").mkdir(parents=True)
    code = "from compiler_gym.files import new_scratch; new_scratch('local')"
    subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"COMPILER_GYM_TRANSIENT_CACHE": str(tmp_path)},
        check=True,
    )
    assert {path.name for path in tmp_path.iterdir()} == {alive, elsewhere, "something-else"}


def test_a_closed_directory_and_a_link_are_removed(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    (closed / "inner").mkdir(parents=True)
    (closed / "inner").chmod(0)
    closed.chmod(0)
    remove_tree(closed)
    (tmp_path / "kept").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "kept")
    remove_tree(tmp_path / "link")
    remove_tree(tmp_path / "missing")
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
