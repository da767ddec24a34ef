# SPDX-License-Identifier: MIT
"""A lock has one holder, whose death is noticed, and leaves no file."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from compiler_gym.errors import CacheError
from compiler_gym.files import FolderLock, Lock, lock_path


def test_a_second_writer_gets_the_name_of_the_first(tmp_path: Path) -> None:
    lock = FolderLock.take(tmp_path)
    with pytest.raises(CacheError, match=rf"is in use by process {os.getpid()} \(this one\)"):
        FolderLock.take(tmp_path)
    lock.release()
    assert not lock.is_held
    again = FolderLock.take(tmp_path)
    assert again.is_held
    again.release()


def test_a_lock_ends_with_a_process_that_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib, time; from compiler_gym.files import FolderLock\n"
        "lock = FolderLock.take(pathlib.Path(sys.argv[1])); print('held', flush=True)\n"
        "time.sleep(60)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    with pytest.raises(CacheError, match=f"process {process.pid} on"):
        FolderLock.take(tmp_path)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    FolderLock.take(tmp_path).release()
    assert list(tmp_path.iterdir()) == []


def test_a_lock_keeps_others_out_until_it_is_released(tmp_path: Path) -> None:
    order: list[str] = []
    entered = threading.Event()

    def second() -> None:
        entered.set()
        with lock_path(tmp_path / "d"):
            order.append("second")

    thread = threading.Thread(target=second)
    with lock_path(tmp_path / "d"):
        thread.start()
        entered.wait(5)
        with pytest.raises(BlockingIOError) as caught:
            lock_path(tmp_path / "d", wait=False)
        assert str(caught.value.strerror).startswith(f"process {os.getpid()} (this one) on ")
        order.append("first")
    thread.join(5)
    assert order == ["first", "second"]
    assert list(tmp_path.iterdir()) == []


def test_many_who_wait_for_a_lock_that_is_removed_come_one_by_one(tmp_path: Path) -> None:
    inside, most = [0], [0]

    def work() -> None:
        for _ in range(50):
            with Lock(tmp_path / "x"):
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                time.sleep(0)
                inside[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert most == [1]
    assert list(tmp_path.iterdir()) == []


def test_a_forked_process_neither_holds_nor_releases_its_parents_lock(tmp_path: Path) -> None:
    lock = FolderLock.take(tmp_path)
    pause, go = os.pipe()
    child = os.fork()
    if child == 0:
        status = lock.is_held
        lock.release()
        os.close(go)
        os.read(pause, 1)
        os._exit(status)
    with pytest.raises(CacheError, match="is in use by"):
        FolderLock.take(tmp_path)
    lock.release()
    FolderLock.take(tmp_path).release()  # the child still runs
    os.close(go)
    os.close(pause)
    assert os.waitpid(child, 0)[1] == 0


def test_a_removed_lock_is_not_removed_again(tmp_path: Path) -> None:
    first = FolderLock.take(tmp_path)
    (tmp_path / "lock").unlink()
    second = FolderLock.take(tmp_path)
    first.release()
    assert (tmp_path / "lock").exists()
    second.release()
