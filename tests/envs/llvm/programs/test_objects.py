# SPDX-License-Identifier: MIT
"""Objects are known by their bytes, and those of unknown origin stay what they are."""

import shutil
import subprocess
from pathlib import Path

import pytest

from compiler_gym.envs import llvm
from compiler_gym.errors import (
    BenchmarkInitError,
)

from .conftest import Env, functions_of, status_of

pytestmark = pytest.mark.skipif(shutil.which("clang-22") is None, reason="needs clang-22")


def test_objects_that_were_compiled_are_known_by_their_bytes(project: Path, make_env: Env) -> None:
    env = make_env()
    for name, flags in (("main", "-DN=5"), ("part", "")):
        program = env.make_benchmark_from_command_line(f"cc -Iinclude {flags} -c {name}.c")
        env.reset(benchmark=program)
        program.compile(env)
    (project / "part.o").rename(project / "moved.o")
    subprocess.run(["ar", "rcs", "libpart.a", "moved.o"], check=True)
    program = env.make_benchmark_from_command_line("cc main.o libpart.a -lm -o run")
    assert functions_of(program, make_env) == {"main", "part"}
    env.reset(benchmark=program)
    program.compile(env)
    assert status_of(project / "run") == 14


def test_objects_of_unknown_origin_stay_for_the_linker(project: Path, make_env: Env) -> None:
    subprocess.run(["cc", "-Iinclude", "-c", "part.c"], check=True)
    env = make_env()
    program = env.make_benchmark_from_command_line("cc -Iinclude -DN=1 main.c part.o -lm -o run")
    assert functions_of(program, make_env) == {"main"}
    env.reset(benchmark=program)
    program.compile(env)
    assert status_of(project / "run") == 6
    with pytest.raises(BenchmarkInitError, match="no object of known origin"):
        env.make_benchmark_from_command_line("cc part.o -o run")


@pytest.mark.parametrize("size", [b"-100", b"x", b"99999999", b""])
def test_a_damaged_archive_is_one_of_unknown_origin(size: bytes, project: Path) -> None:
    header = b"a.o/".ljust(48) + size.ljust(10) + b"`\n"
    (project / "bad.a").write_bytes(b"!<arch>\n" + header + b"data" * 50)
    with pytest.raises(BenchmarkInitError, match="no object of known origin"):
        llvm.make_benchmark_from_command_line("cc bad.a -o run")
