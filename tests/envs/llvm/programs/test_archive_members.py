# SPDX-License-Identifier: MIT
"""Of an archive come the members that a linker would take."""

import shutil
import subprocess
from pathlib import Path

import pytest

from compiler_gym.envs import llvm
from compiler_gym.envs.llvm.programs.builds import record

from .conftest import Env, functions_of, status_of

pytestmark = pytest.mark.skipif(shutil.which("clang-22") is None, reason="needs clang-22")


def test_of_an_archive_come_the_members_that_the_linker_would_take(
    project: Path, make_env: Env
) -> None:
    texts = {
        "top": "int used(int); int main(void) { char b[99] = {0}; return used(b[7]); }",
        "one": "int shared_value = 41; int used(int n) { return shared_value + 1 + n; }",
        "two": "int absent(void); int unneeded(void) { return absent(); }",
        "three": "int main(void) { return 1; }",
    }
    env = make_env()
    for name, text in texts.items():
        (project / f"{name}.c").write_text(text)
        program = env.make_benchmark_from_command_line(f"cc -c {name}.c")
        env.reset(benchmark=program)
        program.compile(env)
    subprocess.run(["ar", "rcs", "l.a", "two.o", "three.o", "one.o"], check=True)
    for command in ("cc top.c l.a -o run", "cc top.o l.a -o run"):
        program = env.make_benchmark_from_command_line(command)
        assert functions_of(program, make_env) == {"main", "used"}
        env.reset(benchmark=program)
        program.compile(env)
        assert status_of(project / "run") == 42
    (project / "strange.c").write_text("int part(void); int absent(void) { return part(); }")
    subprocess.run(["cc", "-c", "strange.c"], check=True)
    (project / "part.c").write_text("int part(void) { return 42; }")
    (project / "root.c").write_text("int absent(void); int main(void) { return absent(); }")
    program = env.make_benchmark_from_command_line("cc -c part.c")
    env.reset(benchmark=program)
    program.compile(env)
    subprocess.run(["ar", "rcs", "p.a", "part.o"], check=True)
    program = env.make_benchmark_from_command_line("cc root.c strange.o p.a -o run")
    env.reset(benchmark=program)
    program.compile(env)
    assert status_of(project / "run") == 42
    (kept,) = record("cc top.o l.a -o run".split(), project, project / "kept")
    assert functions_of(llvm.make_benchmark(kept), make_env) == {"main", "used"}
    program = env.make_benchmark_from_command_line("cc l.a -o run")
    assert functions_of(program, make_env) == {"main"}
