# SPDX-License-Identifier: MIT
"""Every test run has caches of its own, so that nothing of a user's is read or written."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def own_caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Point every cache at a directory of this run."""
    base = tmp_path_factory.mktemp("compiler_gym")
    names = ("COMPILER_GYM_CACHE", "COMPILER_GYM_SITE_DATA", "COMPILER_GYM_TRANSIENT_CACHE")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update({name: str(base / name.lower()) for name in names})
    yield base
    for name, value in before.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value


@pytest.fixture(scope="session", autouse=True)
def interrupts_are_heard() -> None:
    """Undo what a shell does to a background job: it, and what it starts, ignores SIGINT."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
