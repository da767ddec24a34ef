# SPDX-License-Identifier: MIT
"""The unroller in C++ is an environment: its programs stay what they were, and get larger code."""

import shutil
import subprocess
from pathlib import Path

import pytest

import compiler_gym
from compiler_gym.errors import ServiceInitError
from compiler_gym.service.foreign import sdk_path

FOLDER = Path(__file__).parents[2] / "examples" / "loop_unroller"
pytestmark = [
    pytest.mark.skipif(not shutil.which("clang-22"), reason="clang-22 is missing"),
    pytest.mark.skipif(not shutil.which("g++"), reason="g++ is missing"),
]


@pytest.fixture(scope="session")
def unroller(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the declaration of the example, compiled in a folder of its own."""
    folder = tmp_path_factory.mktemp("unroller") / "example"
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("build"))
    (folder / "build").mkdir()
    command = ["g++", "-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror"]
    made = ["-o", "build/loop_unroller", "service.cpp", f"-I{sdk_path() / 'include'}"]
    subprocess.run([*command, *made], cwd=folder, check=True)
    return folder / "unroll.toml"


def test_a_loop_is_unrolled_and_the_program_prints_the_same(unroller: Path) -> None:
    with compiler_gym.make(str(unroller)) as env:
        factors, _ = env.reset(benchmark="benchmark://loops-v0/fir")
        assert factors == "0 0 0 0 0"
        assert env.action_space.nvec.tolist() == [5, 6]
        output, size = env.observation["Output"], env.observation["Size"]
        factors, reward, *_, info = env.step([3, 4])
        assert (factors, info["action_had_no_effect"]) == ("0 0 0 8 0", False)
        assert env.observation["Size"] == size - reward > size
        assert env.observation["Output"] == output
        assert env.observation["Seconds"] > 0
        assert env.step([3, 4])[4]["action_had_no_effect"]
        assert (
            "#pragma clang loop unroll_count(8)\nfor (int i = 0; i < N"
            in (env.observation["Source"])
        )
        with env.fork() as fork:
            fork.step([3, 1])
            assert fork.observation["Size"] < env.observation["Size"] == size - reward


@pytest.mark.slow
def test_every_program_can_be_read(unroller: Path) -> None:
    with compiler_gym.make(str(unroller)) as env:
        for uri in env.datasets.benchmark_uris():
            env.reset(benchmark=uri)
            assert env.observation["Output"].strip()


def test_loops_in_comments_and_texts_are_none(unroller: Path, tmp_path: Path) -> None:
    program = tmp_path / "p.c"
    program.write_text(
        '// for (;;)\n/* while (1) */\nconst char *s = "for (\\" for";\n#define L for\n'
        "int before, forty;\nint main(void) { do { before++; } while (before < 3);\n"
        "while (forty < 4) forty++; return 0; }\n"
    )
    with compiler_gym.make(str(unroller)) as env:
        assert env.reset(benchmark=f"file://{program}")[0] == "0"


def test_a_clang_that_is_not_there_is_named(unroller: Path) -> None:
    command = [str(unroller.parent / "build" / "loop_unroller"), "no-such-clang"]
    with pytest.raises(ServiceInitError, match="expected the name of a clang as the first arg"):
        compiler_gym.make("unroll-mine-v0", service=command)
