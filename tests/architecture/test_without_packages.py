# SPDX-License-Identifier: MIT
"""The core works without the packages next door, and says how to get what is missing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.sources import PACKAGES, ROOT

WITHOUT = {**os.environ, "PYTHONPATH": str(ROOT / "tests" / "without_packages")}
HINT = "which is missing here: pip install --force-reinstall compiler-gym-next"


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], env=WITHOUT, capture_output=True, text=True, check=False
    )


def test_no_package_is_found() -> None:
    names = sorted(PACKAGES)
    done = run(
        "-c", f"import importlib.util as u; print([u.find_spec(n) for n in {names}], {names})"
    )
    assert done.stdout.startswith(f"[{', '.join(['None'] * len(names))}]"), done.stderr
    assert len(names) == 9


def test_the_environments_of_the_core_are_listed() -> None:
    code = "import compiler_gym; print(*compiler_gym.COMPILER_GYM_ENVS)"
    listed = run("-c", code).stdout.split()
    assert "llvm-v0" in listed
    assert all(name.startswith("llvm-") for name in listed)


@pytest.mark.parametrize(
    ("id", "package"),
    [
        ("gcc-v0", "compiler_gym_gcc"),
        ("compiler_gym/loop_tool-v0", "compiler_gym_loop_tool"),
        ("llvm-inline-v0", "compiler_gym_inline"),
        ("llvm-rule-v0", "compiler_gym_inline"),
        ("mlir-v0", "compiler_gym_mlir"),
    ],
)
def test_an_environment_says_how_to_get_it(id: str, package: str) -> None:
    done = run("-c", f"import compiler_gym; compiler_gym.make({id!r})")
    assert f"{id} needs {package}, {HINT}" in done.stderr


@pytest.mark.parametrize("command", ["web", "hunt", "conformance", "tasks", "datasets import"])
def test_an_unknown_command_names_its_package(command: str) -> None:
    done = run("-m", "compiler_gym", *command.split())
    assert done.returncode == 2
    assert "It may be in compiler_gym_agents or" in " ".join(done.stderr.split())
    assert "pip install --force-reinstall compiler-gym-next" in " ".join(done.stderr.split())


def test_a_declared_compiler_and_an_old_path_say_how_to_get_them(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("")
    done = run("-c", f"import compiler_gym; compiler_gym.make({str(file)!r})")
    assert f"a compiler in another language needs compiler_gym_foreign, {HINT}" in done.stderr
    done = run("-c", "import compiler_gym.envs.gcc")
    assert f"compiler_gym.envs.gcc needs compiler_gym_gcc, {HINT}" in done.stderr


@pytest.mark.slow
def test_the_fast_tests_of_the_core_pass() -> None:
    """Tests of a core feature that need a package to be shown are skipped (see ``conftest.py``)."""
    words = ["-m", "pytest", "-q", "-n", "2", "--dist", "worksteal", str(ROOT / "tests")]
    done = run(*words, "-m", "not slow and not docs")
    assert done.returncode == 0, done.stdout[-5000:]
