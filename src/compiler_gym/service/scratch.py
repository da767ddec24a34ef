# SPDX-License-Identifier: MIT
"""Directories for the files of sessions, below one in memory, named after their process.

Whoever uses one removes it. Only where a process and what watches over it are killed at
once does one stay, and the next process that asks for a directory removes it.
"""

import itertools
import os
import shutil
from pathlib import Path

from compiler_gym.paths import transient_cache_path

__all__ = ["new_scratch"]

_serial = itertools.count()
_swept: list[int] = []
"""The process that has removed what others left, if this one has."""


def new_scratch(kind: str) -> Path:
    """Return the path of a directory that no other process has; nothing is created."""
    base = transient_cache_path()
    if _swept != [os.getpid()]:
        _swept[:] = [os.getpid()]
        _sweep(base)
    return base / f"{kind}-{_namespace()}-{os.getpid()}-{next(_serial)}"


def _sweep(base: Path) -> None:
    """Remove the directories of processes of this namespace that are no more."""
    for left in base.glob(f"*-{_namespace()}-*-*"):
        pid = left.name.split("-")[2]
        if pid.isdigit() and not Path("/proc", pid).exists():
            shutil.rmtree(left, ignore_errors=True)


def _namespace() -> int:
    """Return what tells apart processes of one number in containers that share a disk."""
    try:
        return os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return 0
