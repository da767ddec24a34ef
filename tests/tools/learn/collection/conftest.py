# SPDX-License-Identifier: MIT
"""An environment that collects in milliseconds, and options for it."""

from collections.abc import Iterator
from typing import Any

import gymnasium
import pytest

from compiler_gym.options import CollectOptions

FAKE = "collected-fake-v0"


@pytest.fixture(scope="session", autouse=True)
def fake_id() -> Iterator[None]:
    gymnasium.register(  # pyright: ignore[reportUnknownMemberType]  # Gymnasium leaves some arguments untyped
        FAKE, "compiler_gym.testing:FakeEnv", disable_env_checker=True, order_enforce=False
    )
    yield
    del gymnasium.registry[FAKE]


def fake_options(**given: Any) -> CollectOptions:
    usual: dict[str, Any] = {
        "env": FAKE, "benchmarks": ("fake-v0",), "steps": 60, "length": 5, "shard_steps": 20,
        "jobs": 1, "rewards": ("number",), "observe": ("vector", "digits"), "costs": ("half",),
        "action_space": "Safe",
    }  # fmt: skip
    return CollectOptions(**{**usual, **given})
