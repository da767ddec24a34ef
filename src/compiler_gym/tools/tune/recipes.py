# SPDX-License-Identifier: MIT
"""Recipes: plans for projects that nobody has seen, shipped with a compiler.

A recipe is a plan's file with a table ``[recipe]``: what it is for, where it was found, and what
was left out of it and why. It is read as any plan is, so that it holds nothing that the tuner
does not try itself.
"""

import platform
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

import msgspec

from compiler_gym.errors import PlanError, UnknownNameError, unknown_name
from compiler_gym.lazy import parts
from compiler_gym.tools.tune.goal import Goal
from compiler_gym.tools.tune.plan import BinaryPlan, SourceFile
from compiler_gym.tools.tune.reading import read_plan

__all__ = [
    "TuningRecipe",
    "list_shipped_recipes",
    "read_recipe",
    "recipe_actions",
    "recipe_files",
    "recipe_for",
    "recipe_named",
    "recipe_names",
]


@dataclass(frozen=True, slots=True)
class Provenance:
    """The table ``[recipe]`` of a file: what is known of a recipe beside its decisions."""

    about: str
    """What it does, in a sentence."""
    machine: str
    """The machine that it was measured on, as `platform.machine` names it."""
    found_by: str
    """The command that found it."""
    measured: Mapping[str, str] = field(default_factory=dict[str, str])
    """What it won where it had not been looked for, by what was measured."""
    tested: Mapping[str, str] = field(default_factory=dict[str, str])
    """What it has passed, by the name of the test."""
    left_out: Mapping[str, str] = field(default_factory=dict[str, str])
    """Why a decision that made programs better is not in it, by the decision."""


@dataclass(frozen=True, slots=True)
class TuningRecipe:
    """Decisions that are good for most programs, and safe for all that were tried."""

    name: str
    """The name of its file, without the suffix."""
    compiler: str
    """Which compiler it is for, with its version."""
    goal: Goal
    plan: BinaryPlan
    """The decisions; its name and sources stand for those of any binary."""
    known: Provenance
    """Where it comes from."""

    def plan_for(self, name: str, sources: Sequence[SourceFile] = ()) -> BinaryPlan:
        """Return the plan for the linked file `name`, made of `sources`."""
        return replace(self.plan, name=name, sources=tuple(sources))

    def fits(self, goal: Goal, compiler: str) -> bool:
        """Return whether it is for `goal`, this machine and `compiler`, up to the main version."""
        return (
            self.goal is goal
            and self.known.machine == platform.machine()
            and _series(self.compiler) == _series(compiler)
        )


@cache
def list_shipped_recipes() -> tuple[TuningRecipe, ...]:
    """Return the recipes of every installed compiler."""
    return tuple(map(read_recipe, recipe_files()))


def recipe_names() -> list[str]:
    """Return the names of the shipped recipes."""
    return [recipe.name for recipe in list_shipped_recipes()]


def recipe_files() -> tuple[Path, ...]:
    """Return the files of the recipes of every installed compiler."""
    found: list[Path] = []
    for entry in parts("recipes").values():
        with as_file(files(entry.load())) as path:
            found += sorted(path.glob("*.toml"), key=lambda file: file.stem)
    return tuple(found)


def recipe_named(name: str) -> TuningRecipe:
    """Return the recipe `name`; raise `UnknownNameError` with the names there are."""
    named = {recipe.name: recipe for recipe in list_shipped_recipes()}
    if name not in named:
        raise UnknownNameError(unknown_name("recipe", name, named))
    return named[name]


def recipe_for(goal: Goal, compiler: str) -> TuningRecipe | None:
    """Return the recipe for `goal` with `compiler`, a tuner's version, if there is one.

    Of several it is the first by name, whose name others continue.
    """
    return next((recipe for recipe in list_shipped_recipes() if recipe.fits(goal, compiler)), None)


def read_recipe(path: Path) -> TuningRecipe:
    """Return the recipe in the file `path`; raise `PlanError` with what is wrong with it."""
    plan = read_plan(path)
    table = tomllib.loads(path.read_text(encoding="utf-8")).get("recipe")
    try:
        known = msgspec.convert(table, Provenance)
    except msgspec.ValidationError as error:
        raise PlanError(f"{path} is no recipe: its table [recipe]: {error}") from error
    if len(plan.binaries) != 1:
        raise PlanError(f"{path} is no recipe: expected one binary, found {len(plan.binaries)}")
    return TuningRecipe(path.stem, plan.compiler, Goal(plan.goal), plan.binaries[0], known)


def _series(compiler: str) -> str:
    """Return a compiler and its main version.

    >>> _series("llvm 22.1.8")
    'llvm 22'
    """
    return compiler.partition(".")[0]


def recipe_actions(name: str = "small") -> Sequence[str]:
    """Return the names of the actions that do to a program what the recipe `name` does."""
    from compiler_gym.tools.tune.tuners import tuner_named

    recipe = recipe_named(name)
    return tuner_named(recipe.compiler.partition(" ")[0]).actions(recipe.plan)
