# SPDX-License-Identifier: MIT
"""Planted errors are valid IR and are found; honest episodes raise no alarm. Fast versions."""

import shutil
from collections.abc import Iterator

import pytest

import compiler_gym
from benchmarks.validation import honest, planted, planted_table, write_table
from compiler_gym.envs.llvm import LlvmEnv
from tools.plant import KINDS, plant

pytestmark = pytest.mark.skipif(shutil.which("clang-22") is None, reason="needs clang-22")

IR = """define i32 @f(i32 %0, i32 %1, ptr %2) {
  %4 = icmp slt i32 %0, %1
  br i1 %4, label %5, label %8

5:
  %6 = sub nsw i32 %0, %1
  %7 = add i32 %6, 41
  store i32 %7, ptr %2, align 4
  br label %8

8:
  %9 = select i1 %4, i32 %0, i32 %1
  ret i32 %9
}
"""


@pytest.fixture(scope="module")
def env() -> Iterator[LlvmEnv]:
    with compiler_gym.make("llvm-v0") as env:
        assert isinstance(env, LlvmEnv)
        yield env


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("flipped predicate", {"%4 = icmp sge i32 %0, %1"}),
        ("swapped operands", {"%6 = sub nsw i32 %1, %0", "%9 = select i1 %4, i32 %1, i32 %0"}),
        ("dropped store", {""}),
        ("off-by-one constant", {"%7 = add i32 %6, 42"}),
        ("removed branch", {"br i1 true, label %5, label %8"}),
    ],
)
def test_an_edit_changes_one_line_as_its_kind_says(kind: str, changes: set[str]) -> None:
    edits = [plant(IR, kind, seed) for seed in range(20)]
    assert {edit.after for edit in edits if edit} == changes
    for edit in edits:
        assert edit is not None
        assert edit.function == "f"
        assert abs(len(edit.text.splitlines()) - len(IR.splitlines())) <= 1
        assert edit.marked.count("ud2") == 1


def test_a_seed_always_plants_the_same() -> None:
    assert plant(IR, "removed branch", 3) == plant(IR, "removed branch", 3)


def test_a_module_without_a_place_gets_no_edit() -> None:
    assert plant("define void @f() {\n  ret void\n}\n", "dropped store", 0) is None


@pytest.mark.parametrize("kind", KINDS)
def test_edited_modules_are_valid_ir(env: LlvmEnv, kind: str) -> None:
    from compiler_gym.datasets import Benchmark

    env.reset(benchmark="cbench-v1/gsm", action_space="Pipelines")
    env.step(env.action_space["-Oz"])
    ir = env.ir
    for seed in range(3):
        edit = plant(ir, kind, seed)
        assert edit is not None
        for text in (edit.text, edit.marked):
            env.reset(benchmark=Benchmark("benchmark://user-v0/edited", text.encode()))
            assert env.send_param("llvm.verify", "") == "valid"


def test_planted_errors_are_reported() -> None:
    rows = planted(["bitcount"], each=1, oracle=0)
    assert len(rows) == len(KINDS)
    assert sum(row.outcome in ("run", "more", "asan") for row in rows) >= 4
    assert "| all | 5 |" in planted_table(rows)


@pytest.mark.slow
def test_no_planted_error_with_an_effect_is_missed() -> None:
    rows = planted(["dijkstra", "patricia", "rijndael"], each=2)
    assert len(rows) == 3 * 2 * len(KINDS)
    assert not [row for row in rows if row.outcome == "missed"]


@pytest.mark.parametrize("episodes", [3, pytest.param(50, marks=pytest.mark.slow)])
def test_honest_episodes_raise_no_alarm(episodes: int) -> None:
    table = honest(["bitcount", "sha", "crc32"], episodes=episodes)
    assert f"{episodes} episodes on 3 programs: 0 false alarms." in table


def test_a_table_replaces_what_stood_between_its_marks(tmp_path) -> None:  # type: ignore[no-untyped-def]
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- honest: by a command -->\nold\n<!-- end honest -->\nb\n")
    write_table("honest", "| new |", page)
    assert page.read_text() == (
        "a\n<!-- honest: by a command -->\n\n| new |\n\n<!-- end honest -->\nb\n"
    )
    with pytest.raises(SystemExit, match="no marks for planted"):
        write_table("planted", "", page)
