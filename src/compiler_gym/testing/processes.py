# SPDX-License-Identifier: MIT
"""Find processes and files that an environment has left. Linux only."""

import os
import time
from collections.abc import Callable
from pathlib import Path

from compiler_gym.core import CompilerEnv
from compiler_gym.files.paths import transient_cache_path
from compiler_gym.service import WorkerConnection
from compiler_gym.service.limits import list_children


def is_running(pid: int) -> bool:
    """Return True if process `pid` exists and is neither dead nor a zombie.

    >>> is_running(os.getpid())
    True
    """
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] not in ("Z", "X")


def descendants(pid: int) -> set[int]:
    """Return every running process below `pid`."""
    running: set[int] = set()
    for child in list_children(pid):
        if is_running(child):
            running |= {child} | descendants(child)
    return running


def wait_until(condition: Callable[[], bool], *, seconds: float = 60.0) -> bool:
    """Wait up to `seconds` for `condition`, and return True if it became true."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def worker_pid(env: CompilerEnv) -> int | None:
    """Return the process ID of the worker of `env`, or None if it has no worker."""
    connection = env.episode.connection
    return connection.pid if isinstance(connection, WorkerConnection) else None


def worker_files(client: int | None = None) -> list[Path]:
    """Return the current files of the workers of process `client` (default: this one)."""
    pid = os.getpid() if client is None else client
    return [
        Path(directory, name)
        for folder in transient_cache_path().glob(f"workers-*-{pid}-*")
        for directory, _, names in os.walk(folder)  # skips files that are removed meanwhile
        for name in names
    ]
