# SPDX-License-Identifier: MIT
"""A state of the fake environment, and checks that it passes or fails."""

import pytest

from compiler_gym.core import CompilerEnvState
from compiler_gym.testing import FakeEnv
from compiler_gym.validation import Finding, Rung, ValidationError

FINE = Rung("fine", "?", lambda subject: Finding.ok("seen"))
WRONG = Rung("wrong", "?", lambda subject: Finding.fail([ValidationError("broken", {"at": 1})]))


def make_env() -> FakeEnv:
    """Return a new environment in this process."""
    return FakeEnv(isolation="in-process", reward_space="number")


@pytest.fixture
def state() -> CompilerEnvState:
    """Return the state after one action."""
    with make_env() as env:
        env.reset()
        env.step(0)
        return env.state
