# SPDX-License-Identifier: MIT
"""Runs the command line as a shell does: in a process, with what it prints kept apart."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

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


@pytest.fixture
def cli(tmp_path: Path) -> Run:
    def run(*arguments: str, stdin: bytes = b"", **environment: str) -> Ran:
        done = subprocess.run(
            [*COMMAND, *arguments],
            input=stdin,
            capture_output=True,
            cwd=tmp_path,
            env={**os.environ, "COLUMNS": "120", **environment},
            timeout=120,
            check=False,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "sum.c"
    path.write_text(SOURCE)
    return path
