# SPDX-License-Identifier: MIT
"""Plans that need no search: the fair rival, the recipes, and the plans of policies.

Each is built with and without frame pointers and packed relocations. A search starts from the best
plan and never returns a worse one.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

from compiler_gym.tools.tune import PACKED, BinaryPlan, Goal, SourceFile, list_shipped_recipes
from compiler_gym.tools.tune.llvm import policies
from compiler_gym.tools.tune.llvm.linking import FOLDING, FRAMES, LEAVES, SMALL
from compiler_gym.tools.tune.llvm.policies import read_policy
from compiler_gym.tools.tune.llvm.size_plugin import explain_problem, without_plugin

__all__ = ["list_known_plans"]


def list_known_plans(
    name: str, sources: tuple[SourceFile, ...], words: Collection[str], *, compiler: str
) -> list[BinaryPlan]:
    """Return all known plans for the file `name`; `words` lists the layout flags it may use.

    The first plan is the fair rival; if relocations may be packed, the second is the same with
    packed relocations. Policies and recipes for another machine or `compiler` are skipped.
    """
    plans: list[BinaryPlan] = []
    for plan in _list_shipped(compiler):
        base = replace(plan, name=name, sources=sources, flags=())
        base = without_plugin(base) if explain_problem() else base
        base = replace(base, linker=tuple(word for word in plan.linker if word != PACKED))
        packed = ((), (PACKED,)) if PACKED in words else ((),)
        for flags, packing in product(((), (FRAMES, LEAVES)), packed):
            variant = replace(base, flags=flags, linker=(*base.linker, *packing))
            if variant not in plans:
                plans.append(variant)
    return plans


def _list_shipped(compiler: str) -> Iterator[BinaryPlan]:
    yield BinaryPlan("program", SMALL, linker=FOLDING)
    recipes = [recipe for recipe in list_shipped_recipes() if recipe.fits(Goal.SIZE, compiler)]
    yield from (recipe.plan for recipe in recipes)
    names = {recipe.name for recipe in recipes}
    for policy in map(read_policy, _policy_files()):
        if policy.recipe in names:
            yield from policy.plans


def _policy_files() -> Iterable[Path]:
    return sorted(Path(policies.__file__).parent.glob("*.json"))
