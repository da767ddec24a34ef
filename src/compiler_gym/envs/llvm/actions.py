# SPDX-License-Identifier: MIT
"""What can be done: the action spaces, read from two tables.

``passes.tsv`` lists LLVM's transforms with their pipeline text and tier: ``risky`` passes are
in ``PassesAll`` alone, ``varying`` ones gave other results in other runs of
``python -m tools.repeatability``;
``legacy_actions.tsv`` maps the 124 actions of CompilerGym 0.2.5 to today's.
Names and order are part of the public contract.
"""

import re
from functools import cache
from importlib.resources import files

from compiler_gym.envs.llvm.machine.parameters import NAME, SLOTS, STYLE
from compiler_gym.session import ActionSpaceSpec, BoxSpec, CommandlineSpec, DictSpec, FlagSpec

__all__ = ["ACTION_SPACES", "LEGACY", "NO_OP", "PIPELINES", "VARYING", "legacy_flags"]

LEGACY = "CompilerGymV0"
"""The action space of CompilerGym 0.2.5."""

NO_OP = "no-op-module"
"""The pipeline of an old action whose pass is gone: LLVM's own name for doing nothing."""

PIPELINES = tuple(
    FlagSpec(f"-{level}", f"default<{level}>", f"The standard -{level} pipeline, as one action")
    for level in ("O0", "O1", "O2", "O3", "Os", "Oz")
)


def _rows(table: str) -> list[list[str]]:
    text = files("compiler_gym.envs.llvm").joinpath(table).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [line.split("\t") for line in lines[1:]]


def _passes(*, risky: bool) -> tuple[FlagSpec, ...]:
    return tuple(
        FlagSpec(name, pipeline, description)
        for name, _, pipeline, tier, description in _rows("passes.tsv")
        if risky or "risky" not in tier.split()
    )


VARYING = tuple(name for name, _, _, tier, _ in _rows("passes.tsv") if "varying" in tier.split())
"""Passes that give other results in other runs."""


def _varying(items: tuple[FlagSpec, ...]) -> tuple[int, ...]:
    """Return the numbers of the items that run a pass of which runs differ."""
    names = re.compile(r"[\w-]+")
    return tuple(n for n, i in enumerate(items) if not {*VARYING}.isdisjoint(names.findall(i.flag)))


@cache
def legacy_flags() -> frozenset[str]:
    """Return how CompilerGym 0.2.5 wrote its actions."""
    return frozenset(row[0] for row in _rows("legacy_actions.tsv"))


def _legacy() -> tuple[FlagSpec, ...]:
    return tuple(
        FlagSpec(name, pipeline or NO_OP, reason)
        for name, pipeline, reason in ([*row, "", ""][:3] for row in _rows("legacy_actions.tsv"))
    )


def _space(
    name: str, items: tuple[FlagSpec, ...], description: str, style: str = "opt"
) -> ActionSpaceSpec:
    return ActionSpaceSpec(name, CommandlineSpec(items, style=style), description, _varying(items))


def _parameters() -> ActionSpaceSpec:
    """Return the passes that take parameters or none, each once, and the levels."""
    items = tuple(item for item in _passes(risky=False) if "<" not in item.name)
    return ActionSpaceSpec(
        NAME,
        DictSpec(
            {
                "pass": CommandlineSpec(items + PIPELINES, style="opt"),
                "values": BoxSpec(-1, 1, (SLOTS,)),
            },
            style=STYLE,
        ),
        "A pass or a level, and values for its parameters: below 0 leaves one to LLVM",
    )


ACTION_SPACES = (
    _space("Passes", _passes(risky=False), "Deterministic, safe transforms (the default)"),
    _space("PassesAll", _passes(risky=True), "Passes and those known to crash, hang or differ"),
    _space("Pipelines", PIPELINES, "The standard optimisation levels as single actions"),
    _space(
        "PassesAndPipelines",
        _passes(risky=False) + PIPELINES,
        "Passes, then the standard levels: a search may start from -Oz",
    ),
    _space(
        LEGACY,
        _legacy(),
        "The 124 actions of CompilerGym 0.2.5, in their order",
        style="opt-flags",  # its flags are the names that they had
    ),
    _parameters(),
)
