# SPDX-License-Identifier: MIT
"""Directories for the files of sessions, below one in memory, named after their process.

Whoever uses one removes it. Only where a process and what watches over it are killed at
once does one stay, and the next process that asks for a directory removes it.
"""

import itertools
import shutil
from functools import partial
from pathlib import Path

from compiler_gym.files import process_prefix, sweep, sweep_temporary
from compiler_gym.paths import transient_cache_path

__all__ = ["new_scratch"]

_serial = itertools.count()


def new_scratch(kind: str) -> Path:
    """Return the path of a directory that no other process has; nothing is created."""
    base = transient_cache_path()
    sweep(base, "*", partial(shutil.rmtree, ignore_errors=True))
    sweep_temporary()
    return base / f"{process_prefix(kind)}{next(_serial)}"
