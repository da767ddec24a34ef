# SPDX-License-Identifier: MIT
"""The example compiler, installed beside this package, passes its own tests."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import compiler_gym
from tests.loading import installed

PACKAGE = Path(__file__).parents[2] / "examples" / "stack_language"
SOURCES = PACKAGE / "src" / "stack_language"


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    return installed(PACKAGE, tmp_path)


def test_it_passes_its_own_tests_and_the_public_suites(variables: dict[str, str]) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(PACKAGE)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-5000:]
    assert " passed" in done.stdout


def test_it_is_found_by_its_entry_point(variables: dict[str, str]) -> None:
    code = """
import json, sys
import compiler_gym
import gymnasium
sizes = []
for isolation in ("process", "in-process"):
    env = compiler_gym.make("stack-size-v0", isolation=isolation)
    env.reset(seed=1)
    for rule in ("fold", "double", "identity", "forward", "undo", "dead-store"):
        env.step(env.action_space[rule])
    sizes.append((env.observation["Size"], env.episode_reward))
    env.close()
with gymnasium.make("stack-v0", observation_space="Size").unwrapped as env:
    sizes.append(env.reset()[0])
print(json.dumps([sizes, list(compiler_gym.COMPILER_GYM_ENVS)]))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=True
    )
    (isolated, local, before), ids = json.loads(done.stdout)
    assert isolated == local == [14, 4.0]
    assert before == 18
    assert ids[-2:] == ["stack-v0", "stack-size-v0"]


def test_the_command_line_searches_with_it(variables: dict[str, str]) -> None:
    program = "benchmark://stack-v0/polynomial"
    command = ["-m", "compiler_gym.cli", "search", program, "--env", "stack-v0", "--steps", "100"]
    done = subprocess.run(
        [sys.executable, *command, "--reward", "Size", "--algorithm", "random"],
        env=variables,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "--identity" in done.stdout


def test_it_answers_the_same_questions_in_the_same_files_as_the_bundled_compilers() -> None:
    def public(folder: Path) -> set[str]:
        """Return the doors of a compiler: a file, or the folder that it has grown into."""
        doors = [*folder.glob("*.py"), *(path.parent for path in folder.glob("*/__init__.py"))]
        names = {path.stem for path in doors}
        return {name for name in names if not name.startswith("_") or name == "__init__"}

    bundled = Path(compiler_gym.__file__).parent / "envs" / "llvm"
    needs_no_tools = {"programs", "state", "toolchain"}
    offers_nothing_more = {"panes", "tails"}
    assert public(SOURCES) == public(bundled) - (needs_no_tools | offers_nothing_more)


def test_its_session_is_about_a_hundred_lines() -> None:
    assert len((SOURCES / "session.py").read_text().splitlines()) < 130
