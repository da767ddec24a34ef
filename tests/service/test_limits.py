# SPDX-License-Identifier: MIT
"""Children of a worker: their output, their deadline, their end."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler_gym.service import limits, run_child
from compiler_gym.service.limits import list_children, read_processor_seconds
from compiler_gym.testing import descendants, is_running, wait_until


def test_a_child_gives_its_status_and_output() -> None:
    done = run_child(["sh", "-c", "cat; echo oops >&2; exit 3"], timeout=30, input=b"hello")
    assert (done.returncode, done.stdout, done.stderr) == (3, b"hello", b"oops\n")


def test_a_child_without_input_reads_nothing(tmp_path: Path) -> None:
    done = run_child(["sh", "-c", "cat; pwd"], timeout=30, cwd=tmp_path)
    assert done.stdout.decode().strip() == str(tmp_path)


def test_a_child_can_be_prepared() -> None:
    def setup() -> None:
        os.umask(0o027)

    done = run_child(["sh", "-c", "umask"], timeout=30, setup=setup)
    assert done.stdout.strip() == b"0027"


def test_a_large_input_and_output_pass() -> None:
    data = os.urandom(1 << 20)
    assert run_child(["cat"], timeout=30, input=data).stdout == data


def test_a_command_that_is_not_there_is_an_error() -> None:
    with pytest.raises(FileNotFoundError, match="no-such-compiler"):
        run_child(["no-such-compiler"], timeout=30)


def test_a_slow_child_ends_with_everything_it_started() -> None:
    before = descendants(os.getpid())
    began = time.monotonic()
    with pytest.raises(subprocess.TimeoutExpired, match="timed out"):
        run_child(["sh", "-c", "(sleep 603 & sleep 603) & sleep 603; true"], timeout=0.3)
    assert time.monotonic() - began < 60
    assert wait_until(lambda: descendants(os.getpid()) <= before)


def test_a_process_bound_to_its_parent_ends_with_it() -> None:
    code = """
import os, time
from compiler_gym.service.limits import bind_to_parent
parent = os.getpid()
child = os.fork()
if child == 0:
    bind_to_parent(parent)
    print(os.getpid(), flush=True)
    time.sleep(600)
time.sleep(600)
"""
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    with parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert child in list_children(parent.pid)
        parent.send_signal(signal.SIGKILL)
    assert wait_until(lambda: not is_running(child))


def test_a_parent_that_has_gone_already_is_an_error() -> None:
    code = "from compiler_gym.service.limits import bind_to_parent; bind_to_parent(1 << 30)"
    done = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, check=False)
    assert b"ServiceOSError: the parent process 1073741824 has ended" in done.stderr


def test_a_process_that_is_not_there_has_no_children() -> None:
    assert list_children(1 << 30) == []


def scheduling_after(nice: int, work_in_batches: Callable[[], None]) -> tuple[int, int, int]:
    """Return policy, nice value and time at a stretch in ns of a process that called it."""
    receive, send = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.nice(nice)
        work_in_batches()
        attributes = bytearray(limits._SCHED_ATTR.size)  # pyright: ignore[reportPrivateUsage]  # as the kernel writes it
        buffer = (ctypes.c_char * len(attributes)).from_buffer(attributes)
        limits._libc.syscall(limits._SCHED_SETATTR[os.uname().machine] + 1, 0, buffer, 48, 0)  # pyright: ignore[reportPrivateUsage]  # as the kernel says it
        _, policy, _, found, _, runtime, _, _ = limits._SCHED_ATTR.unpack(attributes)  # pyright: ignore[reportPrivateUsage]  # as the kernel writes it
        os.write(send, f"{policy} {found} {runtime}".encode())
        os._exit(0)
    os.waitpid(pid, 0)
    policy, found, runtime = os.read(receive, 100).split()
    os.close(receive)
    os.close(send)
    return int(policy), int(found), int(runtime)


def test_a_worker_computes_at_a_stretch_and_stays_as_nice_as_it_was() -> None:
    policy, nice, runtime = scheduling_after(5, limits.work_in_batches)
    assert (policy, nice) == (os.SCHED_BATCH, os.getpriority(os.PRIO_PROCESS, 0) + 5)
    release = tuple(map(int, os.uname().release.split(".")[:2]))
    if release >= (6, 12):
        assert runtime == 20_000_000


def test_where_the_time_cannot_be_requested_the_policy_still_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def without_the_call() -> None:
        with monkeypatch.context() as patched:
            patched.setattr(limits, "_SCHED_SETATTR", {})
            limits.work_in_batches()

    policy, _, _ = scheduling_after(0, without_the_call)
    assert policy == os.SCHED_BATCH


def test_cpu_time_of_a_process_is_known_until_it_ends() -> None:
    code = "import time\nwhile time.process_time() < 0.2: pass\nprint(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=-1, stdout=-1) as child:
        assert child.stdout is not None
        child.stdout.readline()
        assert 0.2 <= read_processor_seconds(child.pid) < 60.0
        child.kill()
    assert read_processor_seconds(child.pid) == 0.0
