# SPDX-License-Identifier: MIT
"""Environments that are closed after the test, and the tools results are compared with."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import compiler_gym
from compiler_gym.envs.llvm import LlvmEnv

MAIN = '#include <math.h>\n#include "part.h"\nint main() { return part(N) + (int)sqrt(16); }\n'
PART = '#include "part.h"\nint part(int n) { return n * 2; }\n'


@pytest.fixture
def make_env() -> Iterator[Callable[..., LlvmEnv]]:
    """Return a `make` whose environments are closed at the end."""
    made: list[LlvmEnv] = []

    def make(id: str = "llvm-v0", **kwargs: Any) -> LlvmEnv:
        env = compiler_gym.make(id, **kwargs)
        assert isinstance(env, LlvmEnv)
        made.append(env)
        return env

    yield make
    for env in made:
        env.close()


@pytest.fixture
def env(make_env: Callable[..., LlvmEnv]) -> LlvmEnv:
    """Return an environment with a cheap observation and reward."""
    return make_env(
        benchmark="cbench-v1/crc32",
        observation_space="Autophase",
        reward_space="IrInstructionCountOz",
    )


@pytest.fixture(scope="session")
def tool() -> Callable[..., bytes]:
    """Return a function that runs one of LLVM's own tools and gives what it prints."""

    def run(name: str, *arguments: str | Path, input: bytes | None = None) -> bytes:
        if shutil.which(name) is None:
            pytest.skip(f"needs {name}")
        command = [name, *map(str, arguments)]
        return subprocess.run(command, input=input, capture_output=True, check=True).stdout

    return run


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the directory of two sources and a header; it is the current one."""
    (tmp_path / "include").mkdir()
    (tmp_path / "include/part.h").write_text("int part(int);\n")
    (tmp_path / "main.c").write_text(MAIN)
    (tmp_path / "part.c").write_text(PART)
    monkeypatch.chdir(tmp_path)
    return tmp_path
