# SPDX-License-Identifier: MIT
"""Looks for what an environment left behind: processes and files. Linux only."""

import os
import time
from collections.abc import Callable
from pathlib import Path

from compiler_gym.core import CompilerEnv
from compiler_gym.files.paths import transient_cache_path
from compiler_gym.service import WorkerConnection
from compiler_gym.service.limits import list_children

__all__ = ["descendants", "is_running", "wait_until", "worker_files", "worker_pid"]


def is_running(pid: int) -> bool:
    """Return whether process `pid` exists and has not ended; one not yet waited for has.

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
    found: set[int] = set()
    for child in list_children(pid):
        if is_running(child):
            found |= {child} | descendants(child)
    return found


def wait_until(condition: Callable[[], bool], *, seconds: float = 60.0) -> bool:
    """Return whether `condition` became true within `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def worker_pid(env: CompilerEnv) -> int | None:
    """Return the process of the worker of `env`; None without one."""
    connection = env.episode.connection
    return connection.pid if isinstance(connection, WorkerConnection) else None


def worker_files(client: int | None = None) -> list[Path]:
    """Return the files that the workers of process `client` (default: this one) hold now."""
    pid = os.getpid() if client is None else client
    return [
        Path(place, name)
        for folder in transient_cache_path().glob(f"workers-*-{pid}-*")
        for place, _, names in os.walk(folder)  # which passes over what is removed meanwhile
        for name in names
    ]
