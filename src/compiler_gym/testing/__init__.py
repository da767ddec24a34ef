# SPDX-License-Identifier: MIT
"""Test suites and fakes for adding a compiler.

``suite`` contains the tests that every compiler must pass; ``suites`` applies them to a session
class and to a registered environment, and needs pytest. ``fakes`` is a session that misbehaves on
request, ``fake_environment`` is its environment, and ``processes`` finds leftover processes and
files.
"""

import sys
from typing import TYPE_CHECKING, Any

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.testing.fake_environment import FakeEnv
    from compiler_gym.testing.fakes import FakeSession, UnforkableSession
    from compiler_gym.testing.processes import (
        descendants,
        is_running,
        wait_until,
        worker_files,
        worker_pid,
    )
    from compiler_gym.testing.suite import Suite, same
    from compiler_gym.testing.suites import EnvironmentConformance, SessionConformance

__all__ = [
    "EnvironmentConformance",
    "FakeEnv",
    "FakeSession",
    "SessionConformance",
    "Suite",
    "UnforkableSession",
    "descendants",
    "is_running",
    "same",
    "wait_until",
    "worker_files",
    "worker_pid",
]

_fetch = door(__name__)
_ASSERTING = tuple(f"{__name__}.{module}" for module in ("suite", "suites"))


def __getattr__(name: str) -> Any:
    if "pytest" in sys.modules:  # so that failed assertions of the suite show their values
        unloaded = [module for module in _ASSERTING if module not in sys.modules]
        if unloaded and name in __all__:
            sys.modules["pytest"].register_assert_rewrite(*unloaded)
    return _fetch(name)
