# SPDX-License-Identifier: MIT
"""Which plans are measured of every program: a recipe, its rivals, and the recipe with one change.

A change is a decision that is left out, or one that makes some programs smaller and others
larger. From these a recipe is found, and a policy learns which change a program wants.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from compiler_gym.tools.tune import BinaryPlan
from compiler_gym.tools.tune.llvm.linking import FOLDING, FRAMES, SMALL

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
"""``clang -Oz`` for each module, and nothing for the linker."""
FAIR = BinaryPlan("program", SMALL, linker=FOLDING)
"""The rival: ``clang -Oz -flto``, and a linker that leaves out what nobody uses."""
UNMARKED: Mapping[str, str] = {
    "force-remove-attribute": "minsize",
    "inline-threshold": "5",
    "inlinehint-threshold": "5",
}
"""Code for size, but with constants moved rather than pushed and popped, for which the unwind
tables of functions grow; what is inlined stays the same."""
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
"""Options with other values, by name: an empty one leaves the option to LLVM."""


FRAMED: Sequence[Mapping[str, str]] = (
    *({}, {"inline-threshold": "15"}, {"disable-lsr": ""}, {"regalloc": "basic"}),
    *({"outliner-benefit-threshold": "12"}, UNMARKED),
)
"""Changes that are measured with a frame pointer in each function, too."""


def plans_around(recipe: BinaryPlan) -> list[BinaryPlan]:
    """Return the rivals, `recipe`, it without each decision, and with each of `CHANGES`."""
    without = [
        recipe.without(decision)
        for decision in recipe.decisions()
        if decision not in FAIR.decisions()
    ]
    changed = [with_options(recipe, one) for one in CHANGES]
    framed = [replace(with_options(recipe, one), flags=(FRAMES,)) for one in FRAMED]
    plans = [PLAIN, FAIR, recipe, *without, *changed, *framed]
    return [plan for at, plan in enumerate(plans) if plan not in plans[:at]]


def with_options(plan: BinaryPlan, changes: Mapping[str, str]) -> BinaryPlan:
    """Return `plan` with other values of options; an empty one leaves an option out."""
    options = {**plan.options, **changes}
    return replace(plan, options={name: value for name, value in options.items() if value})


def is_plain(plan: BinaryPlan) -> bool:
    """Return whether `plan` compiles each module alone."""
    return plan.method == PLAIN.method


def plan_key(plan: BinaryPlan) -> str:
    """Return the decisions of `plan` as one line, equal for equal plans.

    >>> plan_key(BinaryPlan("program", SMALL, "default<Oz>", {"disable-lsr": "true"}))
    'passes default<Oz>; option disable-lsr=true'
    """
    if is_plain(plan):
        return plan.method
    passes = (f"passes {plan.passes}",) if plan.passes else ()
    rest = sorted(name for name in plan.decisions() if name != "passes")
    return "; ".join((*passes, *rest))
