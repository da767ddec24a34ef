# SPDX-License-Identifier: MIT
"""The commands that build programs work without the packages that only environments need."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from compiler_gym.cli.kit.failures import REFUSED

_BLOCKING = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("gymnasium", "httpx", "jinja2", "networkx", "numpy"):
            raise ModuleNotFoundError(f"no module {name}", name=name)

sys.meta_path.insert(0, Blocked())
"""


@pytest.fixture
def thin(tmp_path: Path) -> dict[str, str]:
    """Return an environment in which Python finds none of the packages left out."""
    (tmp_path / "sitecustomize.py").write_text(_BLOCKING)
    (tmp_path / "a.c").write_text("int main(void) { return 7; }\n")
    return {**os.environ, "PYTHONPATH": str(tmp_path)}


def _run(thin: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "compiler_gym.cli", *arguments], cwd=thin["PYTHONPATH"], env=thin,
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    "options", [("--policy", "size"), ("--recipe", "small", "-Oz"), ("-Oz",)], ids=" ".join
)
def test_programs_are_built(thin: dict[str, str], options: tuple[str, ...]) -> None:
    built = _run(thin, "cc", *options, "a.c", "-o", "a")
    assert built.returncode == 0, built.stderr
    assert subprocess.run([Path(thin["PYTHONPATH"], "a")], check=False).returncode == 7


@pytest.mark.parametrize(
    "arguments", [("recipe",), ("recipe", "show", "small"), ("doctor",)], ids=" ".join
)
def test_advice_is_printed(thin: dict[str, str], arguments: tuple[str, ...]) -> None:
    printed = _run(thin, *arguments)
    assert printed.returncode == 0, printed.stderr
    assert printed.stdout


def test_a_command_that_needs_more_names_the_installation(thin: dict[str, str]) -> None:
    refused = _run(thin, "describe", "llvm-v0")
    assert refused.returncode == REFUSED
    assert "gymnasium is missing" in refused.stderr
    assert "pip install compiler-gym-next" in refused.stderr
    assert "Traceback" not in refused.stderr
