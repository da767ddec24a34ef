# SPDX-License-Identifier: MIT
"""What is looked at: one module, its files and its program, and others beside it."""

from pathlib import Path

import pytest

from compiler_gym import _llvm
from compiler_gym.envs.llvm.state.program import Program
from compiler_gym.session import BenchmarkSpec

IR = (
    'target triple = "x86_64-pc-linux-gnu"\n'
    "define i32 @main() {\n  %a = alloca i32\n  store i32 7, ptr %a\n"
    "  %x = load i32, ptr %a\n  ret i32 %x\n}\n"
)


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(BenchmarkSpec("benchmark://user-v0/1", IR.encode()), "size", tmp_path / "made")


def test_nothing_is_written_before_the_first_read(program: Program) -> None:
    assert not program.directory.exists()
    path = Path(program.write_bitcode())
    assert path.read_bytes() == program.module.bitcode()
    assert path.parent == program.directory


def test_each_look_at_the_file_is_a_separate_file(program: Program) -> None:
    first = Path(program.write_bitcode())
    before = first.read_bytes()
    assert program.run("function(sroa)")
    second = Path(program.write_bitcode())
    assert second != first
    assert first.read_bytes() == before != second.read_bytes()
    assert not program.run("function(sroa)")


def test_the_module_at_reset_is_available(program: Program) -> None:
    start = program.module.ir_hash()
    program.run("function(sroa)")
    assert program.load().ir_hash() == start != program.module.ir_hash()


def test_the_goal_marks_the_functions(tmp_path: Path) -> None:
    spec = BenchmarkSpec("benchmark://user-v0/1", IR.encode())
    small, fast = (Program(spec, goal, tmp_path) for goal in ("size", "speed"))
    assert "optsize" in small.module.text() or "minsize" in small.module.text()
    assert "optsize" not in fast.module.text()


def test_a_twin_with_another_module_builds_in_another_directory(program: Program) -> None:
    other = _llvm.Module(IR.replace("7", "8").encode())
    assert program.executable.text_size(program.module) > 0
    twin = program.other(other)
    assert twin.module is other
    assert program.module is not other
    assert twin.executable.text_size(twin.module) > 0
    folders = {path.parent.name for path in program.directory.rglob("program-*")}
    assert folders == {program.directory.name, "baseline"}


def test_files_go_to_where_the_session_was_moved(program: Program, tmp_path: Path) -> None:
    program.executable.text_size(program.module)
    program.move_to(tmp_path / "elsewhere")
    assert Path(program.write_bitcode()).parent == tmp_path / "elsewhere"
    program.executable.text_size(program.module)
    assert list((tmp_path / "elsewhere").glob("program-*"))


def test_a_module_that_is_let_go_is_gone(program: Program) -> None:
    program.close()
    with pytest.raises(AttributeError, match="module"):
        program.run("function(sroa)")


def test_a_program_that_cannot_run_is_not_run(program: Program) -> None:
    assert program.executable.is_buildable(program.module)
    assert not program.executable.is_runnable(program.module)
    assert len(program.executable.times(program.module)) == 0
