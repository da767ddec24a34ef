# SPDX-License-Identifier: MIT
"""Levels and goals against clang itself."""

import re
from pathlib import Path

import pytest

from compiler_gym import _llvm

from .conftest import compile_program

LEVELS = ("O1", "O2", "O3", "Os", "Oz")


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_gives_what_clang_gives_from_source(
    level: str, sources: dict[str, Path], corpus: dict[str, bytes]
):
    for name, source in sources.items():
        module = _llvm.Module(corpus[name])
        module.apply_level(level)
        clang = _llvm.Module(compile_program(source, f"-{level}"))
        assert module.instruction_count() == clang.instruction_count(), name
        assert module.object_text_size() == clang.object_text_size(), name


def lifetimes(module: _llvm.Module) -> int:
    return len(re.findall(r"call void @llvm\.lifetime\.", module.text()))


def test_o0_changes_no_instruction_and_differs_from_clang_by_what_its_frontend_leaves_out(
    sources: dict[str, Path], corpus: dict[str, bytes]
):
    for name, source in sources.items():
        if source.suffix != ".c":
            continue
        module = _llvm.Module(corpus[name])
        before = module.instruction_count()
        module.apply_level("O0")
        clang = _llvm.Module(compile_program(source, "-O0"))
        assert module.instruction_count() == before
        assert lifetimes(clang) == 0
        # Beside the marks of lifetimes clang leaves out the blocks that end them.
        extra = before - lifetimes(module) - clang.instruction_count()
        assert 0 <= extra <= 0.1 * before, name


def attributes(module: _llvm.Module) -> set[str]:
    """Return the attributes of defined functions that concern optimisation."""
    text = module.text()
    groups = {
        number: set(words.split())
        for number, words in re.findall(r"^attributes #(\d+) = \{ ([^}]*) \}", text, re.M)
    }
    used = re.findall(r"^define .*#(\d+)", text, re.M)
    return set[str]().union(*(groups[number] for number in used)) & {
        "minsize", "optsize", "optnone", "noinline",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("O0", {"optnone", "noinline"}),
        ("O1", set[str]()),
        ("O2", set[str]()),
        ("O3", set[str]()),
        ("Os", {"optsize"}),
        ("Oz", {"minsize", "optsize"}),
    ],
)
def test_a_level_sets_the_attributes_of_clang(
    level: str, expected: set[str], corpus: dict[str, bytes]
):
    for start in ("size", "speed"):
        module = _llvm.Module(corpus["loops"])
        module.set_goal(start)
        module.apply_level(level)
        assert attributes(module) == expected


def test_goals_mark_every_definition_and_undo_each_other(corpus: dict[str, bytes]):
    module = _llvm.Module(corpus["loops"])
    start = module.ir_hash()
    module.set_goal("size")
    assert attributes(module) == {"minsize", "optsize"}
    assert module.ir_hash() != start
    module.set_goal("speed")
    assert module.ir_hash() == start


def test_a_goal_takes_optnone_off_and_leaves_noinline(sources: dict[str, Path]):
    module = _llvm.Module(compile_program(sources["loops"], "-O0"))
    assert attributes(module) == {"optnone", "noinline"}
    module.set_goal("speed")
    assert attributes(module) == {"noinline"}
    assert module.run("function(sroa)")


def test_size_is_what_the_oz_pipeline_needs_to_be_oz(corpus: dict[str, bytes]):
    marked, plain = _llvm.Module(corpus["loops"]), _llvm.Module(corpus["loops"])
    marked.set_goal("size")
    marked.run("default<Oz>")
    plain.run("default<Oz>")
    assert marked.instruction_count() <= plain.instruction_count()


@pytest.mark.parametrize("name", ["O4", "-Oz", "oz", ""])
def test_an_unknown_level_is_refused(name: str, corpus: dict[str, bytes]):
    with pytest.raises(ValueError, match="use a level O0, O1, O2, O3, Os, Oz or OptOz"):
        _llvm.Module(corpus["loops"]).apply_level(name)


def test_an_unknown_goal_is_refused(corpus: dict[str, bytes]):
    with pytest.raises(ValueError, match="use the goal size or speed, not 'fast'"):
        _llvm.Module(corpus["loops"]).set_goal("fast")
