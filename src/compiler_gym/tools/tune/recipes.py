# SPDX-License-Identifier: MIT
"""Recipes and policies: plans for any project, shipped in the folder ``shipped``.

Each is a plan file with a table ``[recipe]``: its purpose, its origin, and the decisions that were
excluded, with reasons. It is checked like any plan, so it contains only decisions that the tuner
itself tries. A policy differs only in its use: ``cc --policy`` links without it, too, and keeps the
smaller file.
"""

import platform
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from pathlib import Path

import msgspec

from compiler_gym.errors import PlanError, UnknownNameError, unknown_name
from compiler_gym.tools.tune.goal import Goal
from compiler_gym.tools.tune.plan import BinaryPlan, BuildPlan, SourceFile, write_plan
from compiler_gym.tools.tune.reading import read_plan

_SHIPPED = Path(__file__).with_name("shipped")


class Kind(StrEnum):
    """The use of a shipped plan: with the option of this name of ``cc``."""

    RECIPE = "recipe"
    POLICY = "policy"

    @property
    def folder(self) -> Path:
        """The folder of the files of this kind."""
        return _SHIPPED / {"recipe": "recipes", "policy": "policies"}[self]


@dataclass(frozen=True, slots=True)
class Provenance:
    """The table ``[recipe]`` of a file: the purpose and origin of its decisions."""

    about: str
    """The purpose, in one sentence."""
    machine: str
    """The architecture that it was measured on, as `platform.machine` returns it."""
    found_by: str
    """The command that found it."""
    measured: Mapping[str, str] = field(default_factory=dict[str, str])
    """The gains on held-out programs, by measurement."""
    tested: Mapping[str, str] = field(default_factory=dict[str, str])
    """The test results, by the name of the test."""
    left_out: Mapping[str, str] = field(default_factory=dict[str, str])
    """The reasons for excluding decisions that made programs better, by decision."""


@dataclass(frozen=True, slots=True)
class TuningRecipe:
    """Decisions that suit most programs, and that were safe for all that we tried."""

    path: Path
    compiler: str
    """The compiler and its version."""
    goal: Goal
    plan: BinaryPlan
    """The decisions; its name and sources are placeholders for those of any binary."""
    known: Provenance
    """The purpose and origin of the recipe."""

    @property
    def name(self) -> str:
        """The name of its file, without the suffix."""
        return self.path.stem

    def plan_for(self, name: str, sources: Sequence[SourceFile] = ()) -> BinaryPlan:
        """Return the plan for the linked file `name`, built from `sources`."""
        return replace(self.plan, name=name, sources=tuple(sources))

    def fits(self, goal: Goal, compiler: str) -> bool:
        """Return whether it fits `goal`, this machine, and `compiler` up to its major version."""
        return (
            self.goal is goal
            and self.known.machine == platform.machine()
            and _series(self.compiler) == _series(compiler)
        )

    def write(self) -> None:
        """Write the file; raise `PlanError` on failure."""
        plan = BuildPlan(self.compiler, self.goal, "compiler-gym", (self.plan,))
        write_plan(self.path, plan, {"recipe": msgspec.to_builtins(self.known)})


def list_shipped_recipes(kind: Kind = Kind.RECIPE) -> tuple[TuningRecipe, ...]:
    """Return the shipped plans of one kind, by name."""
    return _read_shipped(kind)


@cache
def _read_shipped(kind: Kind) -> tuple[TuningRecipe, ...]:
    files = sorted(kind.folder.glob("*.toml"), key=lambda file: file.stem)
    return tuple(map(read_recipe, files))


def recipe_names() -> list[str]:
    """Return the names of the shipped recipes."""
    return [recipe.name for recipe in list_shipped_recipes()]


def recipe_named(name: str, kind: Kind = Kind.RECIPE) -> TuningRecipe:
    """Return the shipped plan `name`; raise `UnknownNameError` with the available names."""
    recipes = {recipe.name: recipe for recipe in list_shipped_recipes(kind)}
    if name not in recipes:
        raise UnknownNameError(unknown_name(kind, name, recipes))
    return recipes[name]


def policy_named(name: str) -> TuningRecipe:
    """Return the shipped policy `name`, or the one in a file ``NAME.toml``.

    Raises `UnknownNameError` with the available names, or `PlanError` if the file is invalid.
    """
    if name.endswith(".json"):
        raise PlanError(f"{name}: a policy is a plan now: train it again as NAME.toml")
    return read_recipe(Path(name)) if name.endswith(".toml") else recipe_named(name, Kind.POLICY)


def recipe_for(goal: Goal, compiler: str) -> TuningRecipe | None:
    """Return the recipe for `goal` with `compiler`, a tuner's version, if there is one.

    If there are several, return the first by name: names of variants extend that of the main one.
    """
    return next((recipe for recipe in list_shipped_recipes() if recipe.fits(goal, compiler)), None)


def read_recipe(path: Path) -> TuningRecipe:
    """Return the recipe in the file `path`; raise `PlanError` if it is invalid."""
    plan = read_plan(path)
    table = tomllib.loads(path.read_text(encoding="utf-8")).get("recipe")
    try:
        provenance = msgspec.convert(table, Provenance)
    except msgspec.ValidationError as error:
        raise PlanError(f"{path} is not a recipe: its table [recipe]: {error}") from error
    if len(plan.binaries) != 1:
        raise PlanError(f"{path} is not a recipe: it has {len(plan.binaries)} binaries, not one")
    return TuningRecipe(path, plan.compiler, Goal(plan.goal), plan.binaries[0], provenance)


def recipe_actions(name: str = "small") -> Sequence[str]:
    """Return the names of the actions with the effect of the recipe `name`."""
    from compiler_gym.tools.tune.tuner import tuner_named

    recipe = recipe_named(name)
    return tuner_named(recipe.compiler).actions(recipe.plan)


def _series(compiler: str) -> str:
    """Return a compiler and its major version.

    >>> _series("llvm 22.1.8")
    'llvm 22'
    """
    return compiler.partition(".")[0]
