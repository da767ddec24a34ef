# SPDX-License-Identifier: MIT
"""What is left by processes that were killed at once is removed by the next."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from compiler_gym.service.limits import list_children
from compiler_gym.testing import FakeEnv, is_running, wait_until, worker_pid

CLIENT = """
import os, sys
import compiler_gym
import pytest

from compiler_gym.service.limits import list_children
env = compiler_gym.make("llvm-v0", observation_space="ObjectTextSizeBytes")
env.reset(benchmark="cbench-v1/crc32")
print(*list_children(os.getpid()), flush=True)
sys.stdin.read()
"""


def test_a_client_that_is_killed_with_its_zygote_leaves_nothing_for_long(tmp_path: Path) -> None:
    variables = os.environ | {"COMPILER_GYM_TRANSIENT_CACHE": str(tmp_path)}
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=variables,
        text=True,
    )
    with client:
        assert client.stdout is not None
        zygotes = [int(pid) for pid in client.stdout.readline().split()]
        assert zygotes
        for pid in zygotes:
            os.kill(pid, signal.SIGKILL)
        client.kill()
    (tmp_path / f"workers-{os.stat('/proc/self/ns/pid').st_ino}-{client.pid}-9").mkdir()
    again = "import compiler_gym; compiler_gym.make('llvm-v0').close()"
    subprocess.run([sys.executable, "-c", again], env=variables, check=True)
    assert list(tmp_path.glob(f"*-{client.pid}-*")) == []


def test_a_stopped_zygote_ends_with_its_client(tmp_path: Path) -> None:
    variables = os.environ | {"COMPILER_GYM_TRANSIENT_CACHE": str(tmp_path)}
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=variables,
        text=True,
    )
    with client:
        assert client.stdout is not None
        zygotes = [int(pid) for pid in client.stdout.readline().split()]
        assert zygotes
        processes = [*zygotes, *(worker for pid in zygotes for worker in list_children(pid))]
        assert len(processes) > len(zygotes)
        for pid in processes:
            os.kill(pid, signal.SIGSTOP)
        client.kill()
    assert wait_until(lambda: not any(map(is_running, processes)))
    assert wait_until(lambda: list(tmp_path.glob("workers-*")) == [])


def test_environments_are_made_in_a_deleted_working_directory(tmp_path: Path) -> None:
    program = """
import os, sys
os.rmdir(os.getcwd())
import compiler_gym
for name, reward in (("llvm-v0", "IrInstructionCount"), ("gcc-v0", "obj_size")):
    with compiler_gym.make(name, reward_space=reward, benchmark="cbench-v1/crc32") as env:
        env.reset()
        env.step(0)
        with compiler_gym.make(name, isolation="process") as other:
            other.reset(benchmark="cbench-v1/crc32")
print("made")
"""
    (tmp_path / "gone").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path / "gone",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "made\n", done.stderr


@pytest.mark.parametrize("ends", ["fork", "origin"])
def test_a_stopped_worker_is_ended_after_its_environment_was_closed(ends: str) -> None:
    with FakeEnv() as origin:
        origin.reset()
        fork = origin.fork()
        closed = fork if ends == "fork" else origin
        pid = worker_pid(closed)
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        closed.close()
        assert wait_until(lambda: not is_running(pid), seconds=10)
        fork.close()
