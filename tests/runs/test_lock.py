# SPDX-License-Identifier: MIT
"""A folder has one writer, whose death is noticed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from compiler_gym.errors import CacheError
from compiler_gym.runs.lock import FolderLock


def test_a_second_writer_is_told_who_is_there(tmp_path: Path) -> None:
    lock = FolderLock.take(tmp_path)
    with pytest.raises(CacheError, match=rf"is written by process {os.getpid()} \(this one\)"):
        FolderLock.take(tmp_path)
    lock.release()
    assert not lock.is_held
    again = FolderLock.take(tmp_path)
    assert again.is_held
    again.release()


def test_a_lock_ends_with_a_process_that_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib, time; from compiler_gym.runs.lock import FolderLock\n"
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
