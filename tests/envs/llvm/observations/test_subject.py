# SPDX-License-Identifier: MIT
"""What is looked at: one module, its files and its program, and others beside it."""

from pathlib import Path

import pytest

from compiler_gym import _llvm
from compiler_gym.envs.llvm.observations.subject import Subject
from compiler_gym.session import BenchmarkSpec

IR = (
    'target triple = "x86_64-pc-linux-gnu"\n'
    "define i32 @main() {\n  %a = alloca i32\n  store i32 7, ptr %a\n"
    "  %x = load i32, ptr %a\n  ret i32 %x\n}\n"
)


@pytest.fixture
def subject(tmp_path: Path) -> Subject:
    return Subject(BenchmarkSpec("benchmark://user-v0/1", IR.encode()), "size", tmp_path / "made")


def test_nothing_is_written_before_somebody_looks(subject: Subject) -> None:
    assert not subject.directory.exists()
    path = Path(subject.write_bitcode())
    assert path.read_bytes() == subject.module.bitcode()
    assert path.parent == subject.directory


def test_each_look_at_the_file_is_a_file_of_its_own(subject: Subject) -> None:
    first = Path(subject.write_bitcode())
    before = first.read_bytes()
    assert subject.run("function(sroa)")
    second = Path(subject.write_bitcode())
    assert second != first
    assert first.read_bytes() == before != second.read_bytes()
    assert not subject.run("function(sroa)")


def test_the_module_can_be_had_as_it_was_at_reset(subject: Subject) -> None:
    start = subject.module.ir_hash()
    subject.run("function(sroa)")
    assert subject.load().ir_hash() == start != subject.module.ir_hash()


def test_the_goal_marks_the_functions(tmp_path: Path) -> None:
    spec = BenchmarkSpec("benchmark://user-v0/1", IR.encode())
    small, fast = (Subject(spec, goal, tmp_path) for goal in ("size", "speed"))
    assert "optsize" in small.module.text() or "minsize" in small.module.text()
    assert "optsize" not in fast.module.text()


def test_a_twin_with_another_module_builds_in_another_directory(subject: Subject) -> None:
    other = _llvm.Module(IR.replace("7", "8").encode())
    assert subject.program.text_size(subject.module) > 0
    twin = subject.other(other)
    assert twin.module is other
    assert subject.module is not other
    assert twin.program.text_size(twin.module) > 0
    folders = {path.parent.name for path in subject.directory.rglob("program-*")}
    assert folders == {subject.directory.name, "baseline"}


def test_files_go_to_where_the_session_was_moved(subject: Subject, tmp_path: Path) -> None:
    subject.program.text_size(subject.module)
    subject.moved(tmp_path / "elsewhere")
    assert Path(subject.write_bitcode()).parent == tmp_path / "elsewhere"
    subject.program.text_size(subject.module)
    assert list((tmp_path / "elsewhere").glob("program-*"))


def test_a_module_that_is_let_go_is_gone(subject: Subject) -> None:
    subject.close()
    with pytest.raises(AttributeError, match="module"):
        subject.run("function(sroa)")


def test_a_program_that_nobody_can_run_is_not_run(subject: Subject) -> None:
    assert subject.program.is_buildable(subject.module)
    assert not subject.program.is_runnable(subject.module)
    assert len(subject.program.times(subject.module)) == 0
