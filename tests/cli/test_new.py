# SPDX-License-Identifier: MIT
"""``compiler-gym new`` writes a package that works and answers the questions of a compiler."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from typer.testing import CliRunner

import compiler_gym
import compiler_gym.envs.llvm
import compiler_gym_gcc
from compiler_gym.cli._app import app
from compiler_gym.errors import InvalidParameterError
from tests.loading import installed

Runner = CliRunner()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    done = Runner.invoke(app, ["new", "tiny-c", "--folder", str(tmp_path / "made"), "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.output)
    assert told["environment"] == "tiny-c-v0"
    assert all((tmp_path / "made" / name).is_file() for name in told["files"])
    return tmp_path / "made"


def test_it_answers_the_same_questions_in_the_same_files_as_the_bundled_compilers(
    package: Path,
) -> None:
    def public(folder: Path) -> set[str]:
        """Return the doors of a compiler: a file, or the folder that it has grown into."""
        doors = [*folder.glob("*.py"), *(path.parent for path in folder.glob("*/__init__.py"))]
        names = {path.stem for path in doors}
        return {name for name in names if not name.startswith("_") or name == "__init__"}

    needs_no_tools = {"programs", "state", "toolchain"}
    offers_nothing_more = {"panes", "tails"}

    for bundled in (compiler_gym_gcc, compiler_gym.envs.llvm):
        folder = Path(bundled.__path__[0])
        assert (
            public(package / "src" / "tiny_c")
            == public(folder) - needs_no_tools - offers_nothing_more
        )


def test_it_asks_for_this_library_and_not_for_its_namesake(package: Path) -> None:
    example = Path(__file__).parents[2] / "examples" / "stack_language"
    for folder in (package, example):
        project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
        needed = Requirement(project["dependencies"][0])
        assert needed.specifier.contains(compiler_gym.__version__, prereleases=True)
        assert not needed.specifier.contains("0.2.5", prereleases=True)


def test_it_is_usable_at_once(package: Path) -> None:
    code = (
        "import compiler_gym\n"
        "with compiler_gym.make('tiny-c-v0', reward_space='Size') as env:\n"
        "    env.reset()\n"
        "    rewards = [env.step(action)[1] for action in range(3)]\n"
        "    print(rewards, env.commandline(), env.validate().okay())\n"
        "    with env.fork() as fork: print(fork.observation['Text'] == env.observation['Text'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=installed(package, package / "site"),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[4.0, 2.0, 9.0] --trailing --empty-lines --indent True\nTrue\n"


@pytest.mark.slow
def test_it_passes_its_own_tests_and_the_public_suites(package: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    done = subprocess.run(
        command,
        cwd=package,
        env=installed(package, package / "site"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:]
    assert " passed" in done.stdout


def test_generated_code_passes_the_linter(package: Path) -> None:
    root = Path(__file__).parents[2]
    ruff = str(Path(sys.executable).with_name("ruff"))
    config = ["--config", str(root / "pyproject.toml"), "--no-cache"]
    for words in (["check", "--ignore", "D,I"], ["format", "--check"]):
        done = subprocess.run(
            [ruff, *words, *config, str(package)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "name",
    ["", "Tiny", "1c", "a b", "../x", "class", "compiler-gym", "a--b", "json", "llvm", "gcc"],
)
def test_a_bad_name_is_refused(name: str, tmp_path: Path) -> None:
    done = Runner.invoke(app, ["new", "--folder", str(tmp_path / "x"), "--", name])
    assert isinstance(done.exception, InvalidParameterError)
    assert "cannot be the name of a package" in str(done.exception)
    assert not (tmp_path / "x").exists()


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x")
    for folder in (tmp_path, tmp_path / "mine"):
        done = Runner.invoke(app, ["new", "tiny-c", "--folder", str(folder)])
        assert isinstance(done.exception, InvalidParameterError)
        assert "exists already" in str(done.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_the_next_steps_are_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = Runner.invoke(app, ["new", "tiny-c"])
    assert "uv pip install -e '.[test]'" in done.output
    assert (tmp_path / "tiny-c" / "pyproject.toml").is_file()
