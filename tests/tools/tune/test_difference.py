# SPDX-License-Identifier: MIT
"""Two plans beside each other."""

from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym.errors import PlanError
from compiler_gym.tools.tune import (
    BinaryPlan,
    BuildPlan,
    SourceFile,
    compare_plans,
    read_tuned,
    write_plan,
)


def binary(text: int, **changes: object) -> BinaryPlan:
    plan = BinaryPlan(
        "tool", "program", "sroa", {"a": "1", "b": "2"}, linker=("-Wl,-x",),
        sizes={"tuned": {"text": text, "total": 9000}},
        sources=(SourceFile("a.c", "11"), SourceFile("b.c", "22")),
    )  # fmt: skip
    return replace(plan, **changes)  # type: ignore[arg-type]


def plan(*binaries: BinaryPlan) -> BuildPlan:
    return BuildPlan("llvm 22", "size", "1.0", binaries)


def test_equal_plans_have_no_difference() -> None:
    found = compare_plans(plan(binary(100)), plan(binary(100)))
    assert found.binaries[0].is_same
    assert not found.is_worse
    assert not found.settings


@pytest.mark.parametrize(("text", "is_worse"), [(99, False), (101, True)])
def test_more_code_is_worse(text: int, is_worse: bool) -> None:
    found = compare_plans(plan(binary(100)), plan(binary(text)))
    assert found.is_worse is is_worse
    assert not found.binaries[0].is_same
    assert found.binaries[0].sizes["text"] == (100, text)


def test_decisions_and_sources_are_named() -> None:
    other = binary(
        100, options={"a": "1", "b": "3"}, passes="gvn", method="link-time",
        sources=(SourceFile("a.c", "99"), SourceFile("c.c", "33")),
    )  # fmt: skip
    (found,) = compare_plans(plan(binary(100)), plan(other)).binaries
    assert found.only_first == ("method program", "option b=2")
    assert found.only_second == ("method link-time", "option b=3")
    assert found.has_other_passes
    assert found.changed_sources == ("a.c",)
    assert found.sources_gone == ("b.c",)
    assert found.sources_new == ("c.c",)


def test_a_file_that_is_gone_is_worse_and_one_more_is_not() -> None:
    one, two = plan(binary(1)), plan(binary(1), binary(1, name="more"))
    assert compare_plans(two, one).only_first == ("more",)
    assert compare_plans(two, one).is_worse
    assert compare_plans(one, two).only_second == ("more",)
    assert not compare_plans(one, two).is_worse


def test_other_settings_are_reported() -> None:
    found = compare_plans(plan(), replace(plan(), compiler="llvm 23"))
    assert found.settings == {"compiler": ("llvm 22", "llvm 23")}


def test_a_folder_or_a_file_is_read(tmp_path: Path) -> None:
    written = replace(plan(binary(1)), compiler="simple 1")
    write_plan(tmp_path / "tuned.toml", written)
    assert read_tuned(tmp_path) == read_tuned(tmp_path / "tuned.toml") == written
    (tmp_path / "empty").mkdir()
    with pytest.raises(PlanError, match=r"no tuned\.toml in .*empty"):
        read_tuned(tmp_path / "empty")
    with pytest.raises(PlanError, match="cannot read"):
        read_tuned(tmp_path / "nowhere")
