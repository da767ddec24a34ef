# SPDX-License-Identifier: MIT
"""Runs the command line in a process of its own, with what it prints kept apart."""

import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import compiler_gym
from compiler_gym import CompilerEnvState, CompilerEnvStateWriter
from tests.warm import Warm

COMMAND = (sys.executable, "-m", "compiler_gym.cli")
SOURCE = """
int add(int n) { int sum = 0; for (int i = 0; i < n; i++) sum += i * n; return sum; }
int main(int argc, char **argv) { return add(argc); }
"""


@dataclass(frozen=True)
class Ran:
    status: int
    output: str
    errors: str

    @property
    def json(self) -> Any:
        """What was printed: JSON, and nothing else."""
        assert self.status == 0, self.errors
        return json.loads(self.output)


Run = Callable[..., Ran]
States = list[CompilerEnvState]


def run_and_list_modules(*arguments: str) -> tuple[str, set[str]]:
    """Return the output of the program in a new process, and the modules that it loaded."""
    program = (
        "import sys; from compiler_gym.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print('loaded:', *sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True
    )
    shown, _, loaded = done.stdout.partition("loaded:")
    return shown, set(loaded.split())


@pytest.fixture(scope="session")
def other_warm() -> Iterator[Warm]:
    """Keep a second process that has the library loaded, whose seed of hashes is another."""
    process = Warm()
    yield process
    process.close()


@pytest.fixture
def cli(tmp_path: Path, warm: Warm, other_warm: Warm) -> Run:
    """Run commands in turns with one of two seeds of hashes: results must not depend on it."""
    processes = itertools.cycle((warm, other_warm))

    def run(*arguments: str, stdin: bytes = b"", **environment: str) -> Ran:
        done = next(processes).run(
            "compiler_gym.cli",
            arguments,
            folder=tmp_path,
            variables={**os.environ, "COLUMNS": "120", **environment},
            stdin=stdin,
            timeout=120,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


def run_until_killed(method: str, calls: int, *arguments: str) -> None:
    """Run the command line in a process that is killed after so many calls of a method.

    `method` is ``"module:Class.method"``. Where it dies does not depend on the machine's speed.
    """
    module, _, name = method.partition(":")
    of, _, attribute = name.partition(".")
    code = (
        "import itertools, os, signal\n"
        f"from {module} import {of} as of\n"
        "from compiler_gym.cli import main\n"
        f"original, calls = of.{attribute}, itertools.count(1)\n"
        "def call(*arguments, **options):\n"
        "    original(*arguments, **options)\n"
        f"    if next(calls) == {calls}:\n"
        "        os.killpg(0, signal.SIGKILL)\n"
        f"of.{attribute} = call\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], stdout=subprocess.DEVNULL, start_new_session=True
    )
    assert done.returncode == -signal.SIGKILL


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "sum.c"
    path.write_text(SOURCE)
    return path


@pytest.fixture(scope="session")
def states() -> States:
    """Return two states with rewards and hashes."""
    found: States = []
    with compiler_gym.make("llvm-v0", reward_space="IrInstructionCountOz") as env:
        for name in ("crc32", "bitcount"):
            env.reset(benchmark=f"cbench-v1/{name}")
            env.multistep([env.action_space[a] for a in ("sroa", "gvn", "simplifycfg")])  # type: ignore[index]
            found.append(env.state)
    return found


def write(path: Path, states: States) -> str:
    """Write `states` to `path` and return it."""
    with CompilerEnvStateWriter(path.open("w", encoding="utf-8")) as writer:
        for state in states:
            writer.write_state(state)
    return str(path)
