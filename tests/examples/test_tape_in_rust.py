# SPDX-License-Identifier: MIT
"""The compiler in Rust, written against the document alone, is an environment."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import compiler_gym
from compiler_gym.service import SessionSource
from compiler_gym.session import BenchmarkSpec
from compiler_gym_foreign.conformance import check_service

FOLDER = Path(__file__).parents[2] / "examples" / "tape_in_rust"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("rustc"), reason="rustc is missing"),
]


@pytest.fixture(scope="session")
def tape(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the declaration of the example, compiled in a folder of its own."""
    folder = tmp_path_factory.mktemp("tape") / "example"
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("target"))
    (folder / "target" / "release").mkdir(parents=True)
    subprocess.run(
        ["rustc", "--edition=2021", "-D", "warnings", "-o", "target/release/tape", "src/main.rs"],
        cwd=folder,
        check=True,
        env={**os.environ, "CARGO_PKG_VERSION": "0.1.0"},
    )
    return folder / "tape.toml"


def test_passes_make_a_program_shorter_and_it_prints_the_same(tape: Path) -> None:
    with compiler_gym.make(str(tape)) as env:
        before, _ = env.reset()
        assert env.observation["Output"] == "Hello World!\n"
        steps = env.observation["Steps"]
        assert env.step(env.action_space["merge"])[1] > 20
        with env.fork() as fork:  # by replay
            assert fork.observation["Ir"] == env.observation["Ir"]
        env.step(env.action_space["clear"])
        env.step(env.action_space["dead"])
        assert env.observation["Size"] < before
        assert env.observation["Steps"] < steps
        assert env.observation["Output"] == "Hello World!\n"


@pytest.mark.parametrize("carrier", ["descriptor", "stdio", "socket"])
def test_it_keeps_every_promise(tape: Path, carrier: str) -> None:
    source = SessionSource.of_program([str(tape.parent / "target/release/tape")], carrier)
    program = BenchmarkSpec("benchmark://tape-v0/x", b"+++[-]>++.")
    problems = {check.name: check.problem for check in check_service(source, program)}
    del problems["a round trip takes at most 50 microseconds"]  # this machine may be busy
    assert not {name: said for name, said in problems.items() if said}
