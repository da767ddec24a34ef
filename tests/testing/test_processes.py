# SPDX-License-Identifier: MIT
"""What is left behind is found: processes, also grandchildren, and files of workers."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from compiler_gym.testing import (
    FakeEnv,
    descendants,
    is_running,
    wait_until,
    worker_files,
    worker_pid,
)


def test_a_zombie_is_not_a_running_process() -> None:
    child = subprocess.Popen(["sleep", "60"])
    assert is_running(child.pid)
    child.kill()
    assert wait_until(lambda: not is_running(child.pid)), "it is a zombie now"
    assert Path(f"/proc/{child.pid}").exists()
    child.wait()
    assert not is_running(child.pid)


def test_children_of_children_are_found() -> None:
    program = (
        "import subprocess; child = subprocess.Popen(['sleep', '60']);"
        "print(child.pid, flush=True); child.wait()"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        grandchild = int(child.stdout.readline())
        assert {child.pid, grandchild} <= descendants(os.getpid())
        assert descendants(child.pid) == {grandchild}
        os.kill(grandchild, 9)
    assert child.pid not in descendants(os.getpid())


def test_waiting_ends_when_it_is_true_or_the_time_is_up() -> None:
    began = time.monotonic()
    assert wait_until(lambda: time.monotonic() > began + 0.05)
    assert not wait_until(lambda: False, seconds=0.05)
    assert time.monotonic() - began < 30


def test_the_worker_of_an_environment_is_a_process_that_ends_with_it() -> None:
    with FakeEnv() as env:
        env.reset()
        pid = worker_pid(env)
        assert pid is not None
        assert pid != os.getpid()
        assert env.observation["process"] == pid
        assert pid in descendants(os.getpid())
    assert wait_until(lambda: not is_running(pid))
    with FakeEnv(isolation="in-process") as env:
        env.reset()
        assert worker_pid(env) is None


def test_files_of_workers_are_there_until_their_episode_ends() -> None:
    with FakeEnv() as env:
        env.reset()
        path = Path(env.observation["file"])
        assert path in worker_files()
        assert path not in worker_files(os.getppid())
    assert wait_until(lambda: path not in worker_files())


@pytest.mark.parametrize("pid", [2**22 + 1, 0])
def test_a_process_that_never_was_does_not_run(pid: int) -> None:
    assert not is_running(pid)
    assert descendants(2**22 + 1) == set()
