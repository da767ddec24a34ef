# SPDX-License-Identifier: MIT
"""Planted errors are valid IR, change what they say, and stand where some input comes by."""

import shutil
import subprocess

import pytest

from compiler_gym.datasets import BundledPrograms
from scripts.plant import KINDS, MARK, block_of_lines, plant, with_marks

needs_opt = pytest.mark.skipif(shutil.which("opt-22") is None, reason="needs opt-22")

IR = """define i32 @f(i32 %0, i32 %1, ptr %2) {
  %4 = icmp slt i32 %0, %1
  br i1 %4, label %5, label %8

5:                                                ; preds = %3
  %6 = sub nsw i32 %0, %1
  %7 = add i32 %6, 41
  store i32 %7, ptr %2, align 4
  br label %8

8:                                                ; preds = %5, %3
  %9 = phi i32 [ 4, %3 ], [ %7, %5 ]
  %10 = select i1 %4, i32 %0, i32 %9
  ret i32 %10
}
"""


def is_valid(text: str) -> bool:
    command = ["opt-22", "-passes=verify", "-disable-output", "-"]
    done = subprocess.run(command, input=text.encode(), capture_output=True, check=False)
    return done.returncode == 0


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("flipped predicate", {"%4 = icmp sge i32 %0, %1"}),
        ("swapped operands", {"%6 = sub nsw i32 %1, %0"}),
        ("swapped select", {"%10 = select i1 %4, i32 %9, i32 %0"}),
        ("dropped store", {""}),
        ("off-by-one constant", {"%7 = add i32 %6, 42"}),
        ("removed branch", {"br i1 true, label %5, label %8"}),
    ],
)
def test_an_edit_changes_what_its_kind_says(kind: str, changes: set[str]) -> None:
    edits = [plant(IR, kind, seed) for seed in range(20)]
    assert {edit.after for edit in edits if edit} == changes
    for edit in edits:
        assert edit is not None
        assert edit.function == "f"
        assert edit.text != IR
        assert edit.marked.count("ud2") == 1


def test_a_seed_always_plants_the_same() -> None:
    assert plant(IR, "removed branch", 3) == plant(IR, "removed branch", 3)


def test_a_module_without_a_place_gets_no_edit() -> None:
    assert plant("define void @f() {\n  ret void\n}\n", "dropped store", 0) is None


def test_only_blocks_that_are_reached_are_edited() -> None:
    blocks = block_of_lines(IR.splitlines())
    assert sorted(set(blocks.values())) == [0, 1, 2]
    assert plant(IR, "dropped store", 0, reached={0, 2}) is None
    assert plant(IR, "dropped store", 0, reached={1}) is not None


def test_a_place_where_an_edit_is_not_valid_is_passed_over() -> None:
    assert plant(IR, "flipped predicate", 0, is_valid=lambda text: "sge" not in text) is None


@needs_opt
def test_marks_stand_in_every_block_behind_its_phis() -> None:
    marked = with_marks(IR)
    assert is_valid(marked)
    assert [f"@{MARK}(i32 {n})" in marked for n in range(4)] == [True, True, True, False]


@pytest.fixture(scope="module")
def modules() -> dict[str, str]:
    """Return programs after -Oz, as text; together they have a place for every kind."""
    texts: dict[str, str] = {}
    for name in ("stringsearch2", "lame"):
        module = BundledPrograms().benchmark(f"benchmark://cbench-v1/{name}").contents
        command = ["opt-22", "-passes=default<Oz>", "-S", "-", "-o", "-"]
        done = subprocess.run(command, input=module, capture_output=True, check=True)
        texts[name] = done.stdout.decode()
    return texts


@needs_opt
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_planted_as_valid_ir_that_differs(modules: dict[str, str], kind: str) -> None:
    for ir in modules.values():
        edit = plant(ir, kind, 0, is_valid=is_valid)
        if edit is not None:
            assert edit.text != ir
            assert is_valid(edit.text)
            assert is_valid(edit.marked)
            return
    pytest.fail("no module has a place for it")


@needs_opt
@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_most_edits_are_valid_as_they_are(modules: dict[str, str], kind: str) -> None:
    edits = [plant(ir, kind, seed) for ir in modules.values() for seed in range(10)]
    valid = [is_valid(edit.text) for edit in edits if edit is not None]
    assert sum(valid) >= (0.3 if kind == "wrong phi incoming" else 0.8) * len(valid)


def test_there_are_at_least_twenty_kinds() -> None:
    assert len(KINDS) >= 20
