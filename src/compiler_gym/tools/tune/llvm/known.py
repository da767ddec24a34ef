# SPDX-License-Identifier: MIT
"""The plans that need no search: the fair rival, recipes and the plans of policies.

Each is built with and without frame pointers and packed relocations. A search begins with the
best of them, and ends with none that is worse.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

from compiler_gym.tools.tune import PACKED, BinaryPlan, Goal, SourceFile, list_shipped_recipes
from compiler_gym.tools.tune.llvm import policies
from compiler_gym.tools.tune.llvm.linking import FOLDING, FRAMES, SMALL
from compiler_gym.tools.tune.llvm.policies import read_policy

__all__ = ["list_known_plans"]


def list_known_plans(
    name: str, sources: tuple[SourceFile, ...], words: Collection[str], *, compiler: str
) -> list[BinaryPlan]:
    """Return every plan for the file `name`, of which only `words` may decide how it is laid out.

    The first is the fair rival, and the second, where relocations may be packed, the same with
    them packed. A policy or a recipe of another machine or `compiler` is left out.
    """
    made: list[BinaryPlan] = []
    for plan in _list_shipped(compiler):
        plain = replace(plan, name=name, sources=sources, flags=())
        plain = replace(plain, linker=tuple(word for word in plan.linker if word != PACKED))
        packed = ((), (PACKED,)) if PACKED in words else ((),)
        for flags, more in product(((), (FRAMES,)), packed):
            variant = replace(plain, flags=flags, linker=(*plain.linker, *more))
            if variant not in made:
                made.append(variant)
    return made


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
