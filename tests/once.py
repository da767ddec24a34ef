# SPDX-License-Identifier: MIT
"""Makes what several processes of a test run use, such as a compiled program, in one of them."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest

__all__ = ["made_once"]


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Return a folder that `make` has filled, in this process or another of the same run."""
    base = factory.getbasetemp()
    root = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (root / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (root / name).exists():
            made = root / f"{name}.part"
            made.mkdir(exist_ok=True)
            make(made)
            made.rename(root / name)
    return root / name
