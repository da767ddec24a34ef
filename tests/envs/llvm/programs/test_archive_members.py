# SPDX-License-Identifier: MIT
"""Of an archive come the members that a linker would take."""

import shutil
import subprocess
from pathlib import Path

import pytest

from compiler_gym.envs import llvm
from compiler_gym.envs.llvm.programs import archive_members
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


def symbols(name: str, modules: list[bytes], *, timeout: float) -> list[bytes]:
    """Stand in for the engine: a module is written as what it defines and what it needs."""
    texts = [module.decode().split("<-") for module in modules]
    return ["\0".join("\n".join(sorted(part.split())) for part in text).encode() for text in texts]


@pytest.mark.parametrize(
    ("modules", "archives", "taken"),
    [
        (["main <- a"], [["a <- b", "c <-", "b <-"]], ["a <- b", "b <-"]),
        (["main <- a"], [["b <-"], ["a <- b"]], ["b <-", "a <- b"]),
        (["main <- a"], [["a <-"], ["a <- z"]], ["a <-"]),
        (["main a <- a"], [["a <-"]], []),
        ([], [["f <-", "main <- f"]], ["f <-", "main <- f"]),
        (["main <- a"], [["a <- b"], ["b <- a"]], ["a <- b", "b <- a"]),
        (["main <- nowhere"], [["a <-"]], []),
        (["main <- a"], [], []),
    ],
)
def test_only_members_with_missing_symbols_are_taken(
    monkeypatch: pytest.MonkeyPatch, modules: list[str], archives: list[list[str]], taken: list[str]
) -> None:
    monkeypatch.setattr(archive_members, "run_engine", symbols)
    found = archive_members.select_members(
        [module.encode() for module in modules],
        [[member.encode() for member in archive] for archive in archives],
    )
    assert [member.decode() for member in found] == taken
