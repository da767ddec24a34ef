# SPDX-License-Identifier: MIT
"""What is left by processes that were killed at once is removed by the next."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from compiler_gym.service.scratch import new_scratch

CLIENT = """
import os, sys
import compiler_gym
from compiler_gym.service.limits import children_of
env = compiler_gym.make("llvm-v0", observation_space="ObjectTextSizeBytes")
env.reset(benchmark="cbench-v1/crc32")
print(*children_of(os.getpid()), flush=True)
sys.stdin.read()
"""


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
    code = "from compiler_gym.service.scratch import new_scratch; new_scratch('local')"
    subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"COMPILER_GYM_TRANSIENT_CACHE": str(tmp_path)},
        check=True,
    )
    assert {path.name for path in tmp_path.iterdir()} == {alive, elsewhere, "something-else"}


def test_a_client_that_is_killed_with_its_zygote_leaves_nothing_for_long(tmp_path: Path) -> None:
    variables = os.environ | {"COMPILER_GYM_TRANSIENT_CACHE": str(tmp_path)}
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=variables, text=True,
    )  # fmt: skip
    with client:
        assert client.stdout is not None
        zygotes = [int(pid) for pid in client.stdout.readline().split()]
        assert zygotes
        for pid in zygotes:
            os.kill(pid, signal.SIGSTOP)
        client.kill()
        for pid in zygotes:
            os.kill(pid, signal.SIGKILL)
    (tmp_path / f"workers-{os.stat('/proc/self/ns/pid').st_ino}-{client.pid}-9").mkdir()
    again = "import compiler_gym; compiler_gym.make('llvm-v0').close()"
    subprocess.run([sys.executable, "-c", again], env=variables, check=True)
    assert list(tmp_path.glob(f"*-{client.pid}-*")) == []
