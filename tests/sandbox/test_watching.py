# SPDX-License-Identifier: MIT
"""The watcher of a sandbox without namespaces sees every process and every file, and when it is
killed, everything that it watches ends."""

import os
import signal
import subprocess
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym.datasets import RunCase

from .conftest import CONTAINERS, KINDS, Box, made
from .test_box import running, soon

_LIMITS = [kind for kind in KINDS + CONTAINERS if "limits" in str(kind.id)]


@pytest.fixture(params=_LIMITS)
def limited(
    request: pytest.FixtureRequest, attacks: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Box]:
    """Return a box without namespaces, whose folder is on a disk that is left as it was."""
    user, kind = request.param
    folder = place / f"temporary-{user}"
    folder.mkdir(exist_ok=True)
    folder.chmod(0o777)
    box = made(user, kind, attacks, place, monkeypatch)
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield box
    assert list(folder.iterdir()) == []


def test_a_chain_of_five_hundred_processes_ends_with_the_run(limited: Box) -> None:
    ran = limited.run("nest", 500, limits=replace(limited.limits, seconds=2, processes=600))
    assert ran.stopped_by == "time"
    assert running(f"{limited.program} nest") == []


@pytest.mark.parametrize("victim", ["watcher", "guardian"])
def test_a_watched_process_ends_when_its_watcher_is_killed(limited: Box, victim: str) -> None:
    own = f"sleep 74.{os.getpid()}"
    command = ["/bin/sh", "-c", f"for i in 1 2 3; do (setsid {own} &) ; done; {own}"]
    runs = threading.Thread(target=limited.run_command, args=(command,))
    with other_helper():
        runs.start()
        assert soon(lambda: len(running(own)) >= 7)  # the helpers, the shell and what it starts
        with other_helper():
            # Not any helper of this machine: other tests run programs in sandboxes meanwhile.
            helpers = sorted(set(running(own)) & set(running("--report=")))
            os.kill(helpers[-1 if victim == "watcher" else 0], signal.SIGKILL)
            runs.join(60)
            assert soon(lambda: not running(own))


@contextmanager
def other_helper() -> Generator[None]:
    """Run a process that looks like another test's helper, which has to outlive the block."""
    command = ["/bin/sh", "-c", "read line", "sh", "--report=0"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        yield
        assert process.poll() is None


def test_memory_of_a_threads_children_is_counted(limited: Box) -> None:
    assert limited.run("thread-takes", 80).stopped_by == "memory"


def test_a_threads_children_are_counted(limited: Box) -> None:
    ran = limited.run("thread-forks", 60)
    assert ran.stopped_by == "processes"
    assert running(f"{limited.program} thread-forks") == []


def test_memory_is_counted_when_the_first_thread_has_ended(limited: Box) -> None:
    limits = replace(limited.limits, memory_bytes=1 << 30)
    assert limited.run("first-leaves", 400, limits=limits).stopped_by == "memory"


@pytest.mark.parametrize("depth", [10, 300, pytest.param(1500, marks=pytest.mark.slow)])
def test_files_are_counted_however_deep_they_lie(limited: Box, depth: int) -> None:
    assert limited.run("deep", depth, 60).stopped_by == "output"
    assert limited.run("deep", depth, 8).stopped_by is None


@pytest.mark.parametrize("leaves", [(), ("leaves",)], ids=["", "the first thread ends"])
@pytest.mark.parametrize("how", [0, 1, 2], ids=["open", "open in a thread", "mapped"])
def test_files_without_a_name_are_counted(limited: Box, how: int, leaves: tuple[str, ...]) -> None:
    limits = replace(limited.limits, memory_bytes=1 << 30)
    ran = limited.run("nameless", how, *leaves, limits=limits)
    assert (ran.stopped_by, ran.stdout) == ("output", b"")


def test_without_a_sandbox_a_program_that_cannot_be_read_may_run(
    attacks: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = made("nobody", "none", attacks, place, monkeypatch)
    copy = place / "unreadable"
    copy.write_bytes(attacks.read_bytes())
    copy.chmod(0o711)
    ran = box.run_command([copy], RunCase(("threads", "1")))
    assert (ran.stopped_by, ran.stdout) == (None, b"threads 1\n")


def test_processes_that_have_ended_hide_nothing(limited: Box) -> None:
    command = ["/usr/bin/python3", "-c", "import os, time\nos.fork() or os._exit(0)\ntime.sleep(1)"]
    assert limited.run_command(command).stopped_by is None


def test_a_program_that_cannot_be_read_cannot_hide_files(limited: Box) -> None:
    if "bare" in limited.user:
        pytest.skip("root without capabilities is shown nothing that root hides")
    ran = limited.run("unreadable", limits=replace(limited.limits, memory_bytes=1 << 30))
    assert (ran.stopped_by, ran.stdout) == ("output", b"")


def test_files_in_a_folder_that_its_owner_cannot_list_are_counted(limited: Box) -> None:
    ran = limited.run("closed-folder")
    assert (ran.stopped_by, ran.stdout) == ("output", b"")


def test_empty_files_are_counted(limited: Box) -> None:
    assert limited.run("many").stopped_by == "output"


def test_links_holes_and_files_that_are_written_again_are_counted_once(limited: Box) -> None:
    ran = limited.run("harmless")
    assert (ran.stopped_by, ran.stdout[-4:]) == (None, b"had\n")
