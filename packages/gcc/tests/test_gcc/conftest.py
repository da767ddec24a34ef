# SPDX-License-Identifier: MIT
"""Environments that are closed after the test, and the compilers that tests need."""

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import compiler_gym
from compiler_gym_gcc import GccEnv

VERSIONS = ("gcc-11", "gcc-12")
PACKAGES = {"avr-gcc": "gcc-avr"}
"""The Debian packages of compilers that are not called after their commands."""


@pytest.fixture(params=VERSIONS)
def gcc_bin(request: pytest.FixtureRequest) -> str:
    """Return the name of each compiler that the tests install."""
    return needed(request.param)


@pytest.fixture
def make_env() -> Iterator[Callable[..., GccEnv]]:
    """Return a `make` whose environments are closed at the end."""
    made: list[GccEnv] = []

    def make(**kwargs: Any) -> GccEnv:
        arguments: dict[str, Any] = {"gcc_bin": "gcc-12", "benchmark": "cbench-v1/crc32", **kwargs}
        needed(arguments["gcc_bin"])
        env = compiler_gym.make("gcc-v0", **arguments)
        assert isinstance(env, GccEnv)
        made.append(env)
        return env

    yield make
    for env in made:
        env.close()


@pytest.fixture
def env(make_env: Callable[..., GccEnv]) -> GccEnv:
    """Return an environment in an episode."""
    env = make_env()
    env.reset()
    return env


def needed(name: str) -> str:
    """Return `name`, or skip the test where there is no such compiler."""
    if not name.startswith(("docker:", "/")) and shutil.which(name) is None:
        pytest.skip(f"needs {name}: apt install {PACKAGES.get(name, name)}")
    return name
