# SPDX-License-Identifier: MIT
"""Environments that are closed after the test; skipped where MLIR's bindings are missing."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import compiler_gym

pytest.importorskip("mlir", reason="needs MLIR's bindings: pip install compiler-gym-next[mlir]")

from compiler_gym_mlir import MlirEnv


@pytest.fixture
def make_env() -> Iterator[Callable[..., MlirEnv]]:
    """Return a `make` whose environments are closed at the end."""
    made: list[MlirEnv] = []

    def make(**kwargs: Any) -> MlirEnv:
        env = compiler_gym.make("mlir-v0", **kwargs)
        assert isinstance(env, MlirEnv)
        made.append(env)
        return env

    yield make
    for env in made:
        env.close()
