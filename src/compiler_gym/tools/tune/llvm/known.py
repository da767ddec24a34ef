# SPDX-License-Identifier: MIT
"""Plans that need no search: the fair rival, the recipes, and the plans of policies.

Each is built with and without frame pointers and packed relocations, and with the size plug-in. A
search starts from the best plan and never returns a worse one.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import product

from compiler_gym.tools.tune import PACKED, BinaryPlan, Goal, Kind, SourceFile, list_shipped_recipes
from compiler_gym.tools.tune.llvm.linking import FOLDING, FRAMES, LEAVES, SMALL
from compiler_gym.tools.tune.llvm.size_plugin import PLUGIN, explain_problem

_FRAMED = (FRAMES, LEAVES)


def list_known_plans(
    name: str, sources: tuple[SourceFile, ...], words: Collection[str], *, compiler: str
) -> list[BinaryPlan]:
    """Return all known plans for the file `name`; `words` lists the layout flags it may use.

    The first plan is the fair rival; if relocations may be packed, the second is the same with
    packed relocations. Policies and recipes for another machine or `compiler` are skipped.
    """
    plans: list[BinaryPlan] = []
    for plan in _list_shipped(compiler):
        base = replace(plan, name=name, sources=sources, flags=(), plugin=())
        base = replace(base, linker=tuple(word for word in plan.linker if word != PACKED))
        packed = ((), (PACKED,)) if PACKED in words else ((),)
        # The fair rival, which has no passes, is built without the plug-in.
        has_plugin = bool(plan.passes) and not explain_problem()
        kinds = [((), ()), (_FRAMED, ()), *([(_FRAMED, (PLUGIN,))] if has_plugin else ())]
        for (flags, plugin), packing in product(kinds, packed):
            linker = (*base.linker, *packing)
            variant = replace(base, flags=flags, plugin=plugin, linker=linker)
            if variant not in plans:
                plans.append(variant)
    return plans


def _list_shipped(compiler: str) -> Iterator[BinaryPlan]:
    yield BinaryPlan("program", SMALL, linker=FOLDING)
    shipped = [recipe for kind in Kind for recipe in list_shipped_recipes(kind)]
    yield from (recipe.plan for recipe in shipped if recipe.fits(Goal.SIZE, compiler))
