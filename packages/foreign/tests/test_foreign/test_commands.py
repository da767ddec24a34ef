# SPDX-License-Identifier: MIT
"""``compiler-gym conformance`` and the C++ skeleton that it passes."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import compiler_gym
from compiler_gym.cli._app import app
from compiler_gym.errors import BenchmarkNotFoundError
from compiler_gym.service.foreign import sdk_path
from compiler_gym_foreign.conformance import Check

Runner = CliRunner()
CHECKS = "compiler_gym_foreign.conformance.check_service"


@pytest.fixture(scope="session")
def skeleton(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a C++ skeleton that was compiled, quickly rather than well."""
    folder = tmp_path_factory.mktemp("cpp") / "tiny"
    done = Runner.invoke(app, ["new", "tiny", "--language", "cpp", "--folder", str(folder)])
    assert done.exit_code == 0, done.output
    (folder / "build").mkdir()
    command = ["g++", "-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", "-o", "build/tiny"]
    include = f"-I{sdk_path() / 'include'}"
    subprocess.run([*command, include, "service.cpp"], cwd=folder, check=True)
    return folder


@pytest.mark.slow
def test_the_cpp_skeleton_is_an_environment(skeleton: Path) -> None:
    with compiler_gym.make(str(skeleton / "tiny.toml")) as env:
        env.reset()
        rewards = [env.step(action)[1] for action in range(3)]
        assert rewards == [4.0, 2.0, 9.0]
        with env.fork() as fork:
            assert fork.observation["Text"] == env.observation["Text"] == "one\n\ttwo\n\t\tthree\n"


@pytest.mark.slow
def test_the_cpp_skeleton_keeps_every_promise(skeleton: Path) -> None:
    done = Runner.invoke(app, ["conformance", str(skeleton / "tiny.toml"), "--json"])
    told = json.loads(done.output)
    broken = {row["check"] for row in told["checks"] if row["problem"]}
    assert broken <= {"a round trip takes at most 50 microseconds"}  # on a busy machine
    assert len(told["checks"]) > 25


@pytest.mark.slow
def test_the_cpp_skeleton_builds_with_cmake(skeleton: Path) -> None:
    variables = {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    }
    for command in (["cmake", "-S", ".", "-B", "other"], ["cmake", "--build", "other"]):
        subprocess.run(command, cwd=skeleton, env=variables, check=True, capture_output=True)
    assert (skeleton / "other" / "tiny").is_file()


@pytest.mark.parametrize(("problem", "status"), [("", 0), ("3 were found", 1)])
def test_broken_promises_are_reported_and_set_the_exit_status(
    problem: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check_service(*_: object) -> Iterator[Check]:
        yield Check("it leaves", detail="12 microseconds")
        yield Check("it answers", problem)

    monkeypatch.setattr(CHECKS, check_service)
    done = Runner.invoke(app, ["conformance", "--", "./service", "--flag"])
    assert done.exit_code == status
    assert "kept    it leaves\n" in done.output
    assert ("broken  it answers\n        3 were found" in done.output) == bool(problem)
    assert ("1 promises are not kept" in done.output) == bool(problem)
    asked = Runner.invoke(app, ["conformance", "--json", "--", "./service"])
    assert json.loads(asked.output)["broken"] == status


def test_a_program_that_is_not_there_is_an_error() -> None:
    done = Runner.invoke(app, ["conformance", "--program", "/no/such", "--", "./service"])
    assert isinstance(done.exception, BenchmarkNotFoundError)


def test_the_folder_of_the_sdk_is_printed() -> None:
    done = Runner.invoke(app, ["sdk"])
    assert Path(done.output.strip()) == sdk_path()
    header = sdk_path() / "include" / "compiler_gym" / "session.h"
    code = [line.strip() for line in header.read_text().splitlines()]
    assert len([line for line in code if line and not line.startswith(("//", "#"))]) <= 410
