# SPDX-License-Identifier: MIT
"""Recipes are plans with a provenance, and nothing that a tuner does not try itself."""

from pathlib import Path

import pytest

from compiler_gym.errors import PlanError, UnknownNameError
from compiler_gym.search import find_known_sequences
from compiler_gym.tools.tune import (
    BinaryPlan,
    Goal,
    SourceFile,
    list_shipped_recipes,
    read_recipe,
    recipe_for,
    recipe_named,
    tuner_named,
)
from compiler_gym.tools.tune.llvm.deciding import of_modules

TEXT = recipe_named("small").path.read_text(encoding="utf-8")


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text)
    return path


def test_every_shipped_recipe_says_where_it_is_from() -> None:
    assert [recipe.name for recipe in list_shipped_recipes()] == ["small", "small-packed"]
    for recipe in list_shipped_recipes():
        known = recipe.known
        assert known.about
        assert known.found_by
        assert known.measured
        assert known.tested
        assert known.left_out
        assert recipe.plan.decisions()
        assert not set(recipe.plan.decisions()) & known.left_out.keys()


def test_a_recipe_becomes_the_plan_of_a_binary() -> None:
    plan = recipe_named("small").plan_for("bin/mine", [SourceFile("a.c", "0" * 64)])
    assert (plan.name, plan.sources[0].path) == ("bin/mine", "a.c")
    assert plan.decisions() == recipe_named("small").plan.decisions()


def test_it_is_for_a_goal_a_main_version_and_a_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    assert recipe_for(Goal.SIZE, "llvm 22.9.9") is recipe_named("small")
    assert recipe_for(Goal.SPEED, "llvm 22.1.8") is None
    assert recipe_for(Goal.SIZE, "llvm 21.1.8") is None
    assert recipe_for(Goal.SIZE, "gcc-12 (GCC) 12.2.0") is None
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert recipe_for(Goal.SIZE, "llvm 22.1.8") is None


def test_an_unknown_one_is_refused_by_name() -> None:
    with pytest.raises(
        UnknownNameError, match=r"no recipe 'smal': did you mean small, small-packed\?"
    ):
        recipe_named("smal")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("[recipe]\n", "[recip]\n", r"its table \[recipe\]"),
        ('machine = "x86_64"\n', "", "machine"),
        ('"-Wl,-O2"', '"-Wl,-plugin,evil.so"', "evil.so"),
        ('disable-lsr = "true"', 'load = "evil.so"', "load=evil.so"),
        ('passes = "default<Oz>"', 'passes = "print<alias-sets>"', "print<alias-sets>"),
    ],
)
def test_unknown_decisions_are_refused(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    assert old in TEXT
    with pytest.raises(PlanError, match=complaint):
        read_recipe(write(tmp_path, TEXT.replace(old, new)))


def test_a_file_of_several_binaries_is_none(tmp_path: Path) -> None:
    text = TEXT + '\n[[binaries]]\nname = "other"\nmethod = "link-time"\n'
    with pytest.raises(PlanError, match="it has 2 binaries, not one"):
        read_recipe(write(tmp_path, text))


def test_a_search_begins_with_the_same_options() -> None:
    plan = recipe_named("small").plan
    options = {f"{name}={value}" for name, value in of_modules(plan.options).items()}
    names = ["-Oz", *sorted(options)]
    first = [names[number] for number in find_known_sequences(names)[0]]
    assert first[0] == "-Oz"
    assert set(first[1:]) == options


def test_one_command_gives_the_link_time_result_and_no_more() -> None:
    tuner, plan = tuner_named("llvm"), recipe_named("small").plan
    words = tuner.plain_words(plan)
    assert words[:3] == ["clang-22", "-Oz", "-flto"]
    assert "-Wl,-mllvm,-disable-lsr=true" in words
    with pytest.raises(PlanError, match="no single command can build"):
        tuner.plain_words(BinaryPlan("program", "program"))
