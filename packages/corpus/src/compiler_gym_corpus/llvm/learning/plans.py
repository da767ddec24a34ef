# SPDX-License-Identifier: MIT
"""The plans measured for every program: a recipe, its rivals, and variants of the recipe.

A variant drops a decision, or makes a change that helps some programs and hurts others. The
results show how to improve a recipe, and teach a policy which variant suits a program.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from compiler_gym.tools.tune import BinaryPlan
from compiler_gym.tools.tune.llvm import FOLDING, FRAMES, LEAVES, SMALL

__all__ = [
    "CHANGES",
    "FAIR",
    "PLAIN",
    "UNMARKED",
    "is_plain",
    "plan_key",
    "plans_around",
    "with_options",
]

PLAIN = BinaryPlan("program", "plain")
"""``clang -Oz`` for each module, without linker options."""
FAIR = BinaryPlan("program", SMALL, linker=FOLDING)
"""The fair rival: ``clang -Oz -flto``, with a linker that removes unused sections."""
UNMARKED: Mapping[str, str] = {
    "force-remove-attribute": "minsize",
    "inline-threshold": "5",
    "inlinehint-threshold": "5",
}
"""``optsize`` instead of ``minsize``: constants are moved instead of pushed and popped, which would
enlarge the unwind tables; the thresholds keep inlining the same."""
CHANGES: Sequence[Mapping[str, str]] = (
    *({"inline-threshold": value} for value in ("0", "15", "30", "60")),
    *({"outliner-benefit-threshold": value} for value in ("4", "12", "20", "")),
    {"enable-machine-outliner": "", "outliner-benefit-threshold": ""},
    {"regalloc": "basic"},
    {"optsize-jump-table-density": "10"},
    {"split-spill-mode": "size"},
    {"disable-lsr": "", "lsr-drop-solution": "true"},
    UNMARKED,
    *({**UNMARKED, **change} for change in ({"inline-threshold": "15"}, {"disable-lsr": ""})),
)
"""Changed option values, by name; an empty value restores LLVM's default."""


FRAMED: Sequence[Mapping[str, str]] = (
    *({}, {"inline-threshold": "15"}, {"disable-lsr": ""}, {"regalloc": "basic"}),
    *({"outliner-benefit-threshold": "12"}, UNMARKED),
)
"""Changes that are also measured with frame pointers in functions with calls."""


def plans_around(recipe: BinaryPlan) -> list[BinaryPlan]:
    """Return the rivals, `recipe`, and its variants: without each decision, with each change."""
    without = [
        recipe.without(decision)
        for decision in recipe.decisions()
        if decision not in FAIR.decisions()
    ]
    changed = [with_options(recipe, change) for change in CHANGES]
    framed = [replace(with_options(recipe, change), flags=(FRAMES, LEAVES)) for change in FRAMED]
    plans = [PLAIN, FAIR, recipe, *without, *changed, *framed]
    return [plan for index, plan in enumerate(plans) if plan not in plans[:index]]


def with_options(plan: BinaryPlan, changes: Mapping[str, str]) -> BinaryPlan:
    """Return `plan` with changed option values; an empty value removes an option."""
    options = {**plan.options, **changes}
    return replace(plan, options={name: value for name, value in options.items() if value})


def is_plain(plan: BinaryPlan) -> bool:
    """Return whether `plan` compiles each module separately."""
    return plan.method == PLAIN.method


def plan_key(plan: BinaryPlan) -> str:
    """Return the decisions of `plan` as one line that is the same for equal plans.

    >>> plan_key(BinaryPlan("program", SMALL, "default<Oz>", {"disable-lsr": "true"}))
    'passes default<Oz>; option disable-lsr=true'
    """
    if is_plain(plan):
        return plan.method
    passes = (f"passes {plan.passes}",) if plan.passes else ()
    others = sorted(name for name in plan.decisions() if name != "passes")
    return "; ".join((*passes, *others))
