# SPDX-License-Identifier: MIT
"""Which plans LLVM's tuner can make: out of its own tables, and nothing else.

A word for clang or its linker can load a plugin or name a file to write. What is not in a table of
decisions is refused, so that nobody has to know every such word.
"""

import re
from functools import cache

from compiler_gym.envs.llvm.actions import ACTION_SPACES
from compiler_gym.envs.llvm.actions.codegen_options import DEFAULT, OPTIONS, is_choice
from compiler_gym.envs.llvm.toolchain.commands import CLEAR, split_pipeline
from compiler_gym.envs.llvm.tuning.linking import FAST, FOLDING, OUTLINED, PROGRAM, SMALL, TAILS
from compiler_gym.envs.llvm.tuning.making import DEFAULT_PASSES
from compiler_gym.envs.llvm.tuning.size import SPACE
from compiler_gym.envs.llvm.tuning.speed import CHOICES
from compiler_gym.session import CommandlineSpec
from compiler_gym.tuning import BinaryPlan, require_among, require_nothing_in

__all__ = ["require_possible", "require_tried"]

_SCOPE = re.compile(r"internalize<preserve-gv=[^\s;<>,]+(;preserve-gv=[^\s;<>,]+)*>")
_SCOPE_EMPTY = ""


def require_possible(plan: BinaryPlan) -> None:
    """Raise `PlanError` that names the first decision of `plan` that the tuner never makes."""
    require_among(plan, "method", [plan.method], (PROGRAM, SMALL, FAST))
    if plan.method == PROGRAM:
        require_nothing_in(plan, "flags", "profile")
        require_among(plan, "pass", split_pipeline(plan.passes), _passes())
        _require_options(plan)
        require_among(plan, "linker option", plan.linker, FOLDING)
        if not _SCOPE.fullmatch(plan.scope):
            require_among(plan, "scope", [plan.scope], (_SCOPE_EMPTY,))
        return
    require_nothing_in(plan, "scope")
    if plan.method == SMALL:
        _require_small(plan)
        return
    require_nothing_in(plan, "passes", "options")
    choices = CHOICES
    flags = {flag for choice in choices for flag in choice.flags}
    require_among(plan, "flag", plan.flags, flags)
    linker = {*FOLDING, *(flag for choice in choices for flag in choice.linker)}
    require_among(plan, "linker option", plan.linker, linker)


def _require_small(plan: BinaryPlan) -> None:
    require_nothing_in(plan, "profile", "flags")
    require_among(plan, "pass", [plan.passes] if plan.passes else (), (DEFAULT_PASSES,))
    _require_options(plan)
    require_among(plan, "linker option", plan.linker, (*FOLDING, TAILS, *OUTLINED))


def _require_options(plan: BinaryPlan) -> None:
    options = [f"{name}={value}" for name, value in plan.options.items()]
    require_among(plan, "option", options, _options())


def require_tried(name: str, actions: tuple[str, ...]) -> None:
    """Raise `PlanError` for `actions`, tried for the file `name`, that no search for size takes."""
    require_among(BinaryPlan(name, PROGRAM), "action", actions, _names())


@cache
def _items() -> dict[str, str]:
    """Return the text of every action that a search for size takes, by its name."""
    (space,) = (each.space for each in ACTION_SPACES if each.name == SPACE)
    assert isinstance(space, CommandlineSpec)
    return {item.name: item.flag for item in space.items}


@cache
def _names() -> frozenset[str]:
    return frozenset(_items())


@cache
def _passes() -> frozenset[str]:
    passes = {name: text for name, text in _items().items() if not is_choice(text)}
    return frozenset({*passes, *passes.values(), CLEAR})


@cache
def _options() -> frozenset[str]:
    return frozenset(
        f"{option.name}={value}"
        for option in OPTIONS
        for value in option.values
        if value != DEFAULT
    )
