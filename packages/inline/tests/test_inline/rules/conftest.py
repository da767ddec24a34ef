# SPDX-License-Identifier: MIT
"""Skips tests of rules where the size plug-in cannot be loaded."""

import pytest

from compiler_gym.tools.tune.llvm import explain_problem


@pytest.fixture(autouse=True, scope="session")
def plugin() -> None:
    """Skip unless stock lld can load the plug-in."""
    if problem := explain_problem():
        pytest.skip(problem)
