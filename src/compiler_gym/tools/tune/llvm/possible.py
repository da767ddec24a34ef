# SPDX-License-Identifier: MIT
"""Validate plans: LLVM's tuner accepts only decisions from its own tables.

A flag for clang or its linker can load a plugin or overwrite a file. Rejecting everything that is
not in a table of decisions is safer than listing all dangerous flags.
"""

import re
from collections.abc import Collection
from functools import cache
from itertools import filterfalse

from compiler_gym.envs.llvm.actions import codegen_options
from compiler_gym.envs.llvm.toolchain import CLEAR, split_pipeline
from compiler_gym.errors import PlanError
from compiler_gym.tools.tune import (
    LAYOUT,
    NO_UNWINDING,
    BinaryPlan,
    require_among,
    require_nothing_in,
)
from compiler_gym.tools.tune.llvm.deciding import (
    DEFAULT_PASSES,
    FLAG,
    LATE,
    LINKER,
    PLUG_IN,
    SAVINGS,
    items,
)
from compiler_gym.tools.tune.llvm.linking import (
    FAST,
    FOLDING,
    FRAMES,
    FRONT_END_FLAGS,
    LEAVES,
    LLD_LAYOUT,
    PROGRAM,
    SMALL,
)
from compiler_gym.tools.tune.llvm.size_plugin import PLUGIN, is_rule

_SCOPE = re.compile(r"internalize<preserve-gv=[^\s;<>,]+(;preserve-gv=[^\s;<>,]+)*>")
_SCOPE_EMPTY = ""
_FLAGS = (*FRONT_END_FLAGS, NO_UNWINDING)
_COLLECTING = "-Wl,--gc-sections"
"""A flag that no search chooses, because it removes what ``__attribute__((used))`` keeps; other
plans may have it."""
_LINKER = (*FOLDING, _COLLECTING, *LAYOUT, *LLD_LAYOUT)


def require_possible(plan: BinaryPlan) -> None:
    """Raise `PlanError` for the first decision of `plan` that this tuner never makes."""
    require_among(plan, "method", [plan.method], (PROGRAM, SMALL, FAST))
    for name in filterfalse(is_rule, plan.plugin):
        if name != PLUGIN:
            raise PlanError(
                f"the plan of {plan.name} needs the plug-in {name!r}, but this version of "
                f"compiler-gym has {PLUGIN!r}: make a new plan with `compiler-gym tune`"
            )
    if plan.method == PROGRAM:
        require_nothing_in(plan, "profile")
        require_among(plan, "flag", plan.flags, _FLAGS)
        require_among(plan, "pass", split_pipeline(plan.passes), _passes())
        _require_options(plan)
        require_among(plan, "linker option", plan.linker, _LINKER)
        if not _SCOPE.fullmatch(plan.scope):
            require_among(plan, "scope", [plan.scope], (_SCOPE_EMPTY,))
        return
    require_nothing_in(plan, "scope")
    if plan.method == SMALL:
        _require_small(plan)
        return
    require_nothing_in(plan, "passes", "options", "plugin")
    require_among(plan, "flag", plan.flags, ())
    require_among(plan, "linker option", plan.linker, (*FOLDING, _COLLECTING))


def _require_small(plan: BinaryPlan) -> None:
    require_nothing_in(plan, "profile")
    require_among(plan, "flag", plan.flags, (FRAMES, LEAVES))
    require_among(plan, "pass", [plan.passes] if plan.passes else (), (DEFAULT_PASSES,))
    _require_options(plan, LATE)
    require_among(plan, "linker option", plan.linker, _LINKER)


def _require_options(plan: BinaryPlan, late: Collection[str] = ()) -> None:
    options = [f"{name}={value}" for name, value in plan.options.items()]
    require_among(plan, "option", options, {*_options(), *late})


def require_tried(name: str, actions: tuple[str, ...]) -> None:
    """Raise `PlanError` for `actions` of the file `name` that no search for size uses."""
    others = (action for action in actions if not is_rule(action.removeprefix(PLUG_IN)))
    require_among(BinaryPlan(name, PROGRAM), "action", others, _names())


@cache
def _names() -> frozenset[str]:
    extra = (*(f"{FLAG}{flag}" for flag in _FLAGS), *(f"{LINKER}{word}" for word in _LINKER))
    return frozenset((*items(), *SAVINGS, *extra, f"{PLUG_IN}{PLUGIN}"))


@cache
def _passes() -> frozenset[str]:
    passes = {name: text for name, text in items().items() if not codegen_options.is_choice(text)}
    return frozenset({*passes, *passes.values(), CLEAR})


@cache
def _options() -> frozenset[str]:
    return frozenset(
        f"{option.name}={value}"
        for option in codegen_options.OPTIONS
        for value in option.values
        if value != codegen_options.DEFAULT
    ) | frozenset(SAVINGS)
