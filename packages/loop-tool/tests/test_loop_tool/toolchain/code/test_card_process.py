# SPDX-License-Identifier: MIT
"""The process that uses the card: one for each worker and fork, replaced when it ends."""

import gc
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from compiler_gym.errors import BenchmarkInitError, SessionError
from compiler_gym_loop_tool.state.reading import parse_program
from compiler_gym_loop_tool.toolchain.code.card_process import call_on_card
from compiler_gym_loop_tool.toolchain.code.driver import is_available

AN_HOUR = "import time; time.sleep(3600)"


def test_one_process_answers_every_call() -> None:
    pid = call_on_card(os.getpid)
    assert pid != os.getpid()
    assert call_on_card(os.getpid) == pid


def test_an_error_travels_with_its_type_and_its_text() -> None:
    with pytest.raises(BenchmarkInitError, match="nonsense"):
        call_on_card(parse_program, "nonsense")


def test_a_process_that_was_killed_is_an_error_once() -> None:
    before = call_on_card(os.getpid)
    with pytest.raises(SessionError, match="ended with status -9"):
        call_on_card(os.kill, before, signal.SIGKILL)
    assert call_on_card(os.getpid) != before


def test_a_fork_has_its_own_process() -> None:
    ours = call_on_card(os.getpid)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        with warnings.catch_warnings(record=True, action="always") as noticed:
            theirs = call_on_card(os.getpid)
            gc.collect()
        os.write(writer, str(0 if noticed else theirs).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert int(os.read(reader, 20)) not in (0, ours)
    assert call_on_card(os.getpid) == ours
    os.close(reader)
    os.close(writer)


def test_the_limit_of_a_worker_is_not_the_limit_of_its_process_for_the_card() -> None:
    program = (
        "import resource\n"
        "from compiler_gym_loop_tool.toolchain.code.card_process import call_on_card\n"
        "_, hard = resource.getrlimit(resource.RLIMIT_AS)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (4 << 30, hard))\n"
        "assert call_on_card(resource.getrlimit, resource.RLIMIT_AS) == (hard, hard)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


def test_it_ends_with_its_owner() -> None:
    program = (
        "import os, sys, time\n"
        "from compiler_gym_loop_tool.toolchain.code.card_process import call_on_card\n"
        "print(call_on_card(os.getpid), flush=True)\n" + AN_HOUR
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as owner:
        assert owner.stdout is not None
        pid = int(owner.stdout.readline())
        owner.kill()
    deadline = time.monotonic() + 60
    while Path(f"/proc/{pid}/stat").exists() and time.monotonic() < deadline:
        if " Z " in Path(f"/proc/{pid}/stat").read_text():
            break
        time.sleep(0.01)
    else:
        assert not Path(f"/proc/{pid}").exists()


@pytest.mark.skipif(not is_available(), reason="no card of NVIDIA's and its driver")
def test_an_environment_for_a_card_steps_forks_and_validates() -> None:
    import compiler_gym

    with compiler_gym.make(
        "loop_tool-v0",
        benchmark="benchmark://loop_tool-cuda-v0/65536",
        observation_space="flops",
        reward_space="flops",
    ) as env:
        assert env.reset()[0] > 0
        env.step(env.action_space["toggle_thread"])
        with env.fork() as twin:
            assert twin.step(twin.action_space["toggle_mode"])[0] > 0
        assert env.step(env.action_space["toggle_mode"])[0] > 0
        assert env.validate().okay()
