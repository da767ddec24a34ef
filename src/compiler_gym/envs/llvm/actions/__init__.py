# SPDX-License-Identifier: MIT
"""The action spaces, read from two tables.

``passes.tsv`` lists LLVM's transforms with their pipeline text and tier: ``risky`` passes are
in ``PassesAll`` alone, ``varying`` ones gave other results in other runs of
``python -m scripts.repeatability``;
``legacy_actions.tsv`` maps the 124 actions of CompilerGym 0.2.5 to today's.
Names and order are part of the public contract.
"""

import re
from functools import cache
from importlib.resources import files

from compiler_gym.envs.llvm.actions import codegen_options
from compiler_gym.envs.llvm.actions.parameters import NAME, SLOTS, STYLE
from compiler_gym.session import (
    ActionSpaceSpec,
    BoxSpec,
    CommandlineSpec,
    DictSpec,
    FlagSpec,
    MultiDiscreteSpec,
    PartSpec,
)

__all__ = [
    "ACTION_SPACES",
    "CODEGEN",
    "LEGACY",
    "LINK_TIME",
    "MARKS",
    "NO_OP",
    "PIPELINES",
    "VARYING",
    "codegen_options",
    "legacy_flags",
]

LEGACY = "CompilerGymV0"
"""The action space of CompilerGym 0.2.5."""

MARKS = ("Marks", "MarksAndCodegen")
"""The action spaces of decisions finer than a pass."""

_SEES_IDS = ("mergefunc",)
"""Passes that compare what has ids: they would do less where there are some."""

CODEGEN = "Codegen"
"""The action space that sets every option of the code generator at once."""

NO_OP = "no-op-module"
"""The pipeline of an old action whose pass is gone: LLVM's own name for doing nothing."""

PIPELINES = tuple(
    FlagSpec(f"-{level}", f"default<{level}>", f"The standard -{level} pipeline, as one action")
    for level in ("O0", "O1", "O2", "O3", "Os", "Oz")
)

LINK_TIME = tuple(
    FlagSpec(f"{kind}<Oz>", f"{kind}<Oz>", description)
    for kind, description in (
        ("lto-pre-link", "What clang -Oz -flto does to each module before it is linked"),
        ("lto", "What the linker does then to all modules as one"),
    )
)
"""The two halves of clang's link-time optimisation for size."""


def _table_rows(table: str) -> list[list[str]]:
    text = files("compiler_gym.envs.llvm").joinpath(table).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [line.split("\t") for line in lines[1:]]


def _pass_flags(*, risky: bool) -> tuple[FlagSpec, ...]:
    return tuple(
        FlagSpec(name, pipeline, description)
        for name, _, pipeline, tier, description in _table_rows("passes.tsv")
        if risky or "risky" not in tier.split()
    )


VARYING = tuple(
    name for name, _, _, tier, _ in _table_rows("passes.tsv") if "varying" in tier.split()
)
"""Passes that give other results in other runs."""


def _varying(items: tuple[FlagSpec, ...]) -> tuple[int, ...]:
    """Return the numbers of the items that run a pass of which runs differ."""
    names = re.compile(r"[\w-]+")
    return tuple(n for n, i in enumerate(items) if not {*VARYING}.isdisjoint(names.findall(i.flag)))


@cache
def legacy_flags() -> frozenset[str]:
    """Return how CompilerGym 0.2.5 wrote its actions."""
    return frozenset(row[0] for row in _table_rows("legacy_actions.tsv"))


def _legacy() -> tuple[FlagSpec, ...]:
    """Return the old actions, described as today's passes where the table has no remark."""
    does = {item.flag: item.description for item in _pass_flags(risky=True)}
    rows = ([*row, "", ""][:3] for row in _table_rows("legacy_actions.tsv"))
    return tuple(
        FlagSpec(name, pipeline or NO_OP, remark or does.get(pipeline, ""))
        for name, pipeline, remark in rows
    )


def _space(
    name: str, items: tuple[FlagSpec, ...], description: str, style: str = "opt"
) -> ActionSpaceSpec:
    return ActionSpaceSpec(name, CommandlineSpec(items, style=style), description, _varying(items))


def _marks() -> tuple[ActionSpaceSpec, ...]:
    """Return the spaces of decisions: without the code generator's, and with them."""
    items = tuple(i for i in _pass_flags(risky=False) if i.name not in _SEES_IDS) + PIPELINES
    alone, together = MARKS
    return (
        _space(
            alone,
            items,
            "Passes, levels, and what LLVM is told to do with each call site, loop and function of "
            "the program: `call:17=never`",
            style="marks",
        ),
        _space(
            together,
            items + codegen_options.flags()[0],
            "Everything that can be decided: Marks, and one option of the code generator set at a "
            "time",
            style="marks",
        ),
    )


def _parameters() -> ActionSpaceSpec:
    """Return the passes that take parameters or none, each once, and the levels."""
    items = tuple(item for item in _pass_flags(risky=False) if "<" not in item.name)
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


def _codegen() -> tuple[ActionSpaceSpec, ...]:
    """Return the spaces that choose options of the code generator, alone and beside passes."""
    items, sets = codegen_options.flags()
    return (
        ActionSpaceSpec(
            CODEGEN,
            MultiDiscreteSpec(
                tuple(len(o.values) for o in codegen_options.OPTIONS),
                parts=tuple(
                    PartSpec(o.name, ", ".join(o.values), o.description)
                    for o in codegen_options.OPTIONS
                ),
            ),
            "Every option of the code generator at once: 0 is its default, n its value number n",
        ),
        ActionSpaceSpec(
            "CodegenOptions",
            CommandlineSpec(items, style="opt"),
            "Set one option of the code generator",
            sets=sets,
        ),
        _space(
            "PassesAndCodegen",
            _pass_flags(risky=False) + PIPELINES + items + LINK_TIME,
            "PassesAndPipelines, then one option of the code generator set at a time, then the "
            "levels of link-time optimisation",
        ),
        ActionSpaceSpec(
            "PipelinesAndCodegen",
            CommandlineSpec(PIPELINES + items, style="opt"),
            "A standard level, and one option of the code generator set at a time",
            sets=(0,) * len(PIPELINES) + tuple(number + 1 for number in sets),
        ),
    )


ACTION_SPACES = (
    _space("Passes", _pass_flags(risky=False), "Deterministic, safe transforms (the default)"),
    _space("PassesAll", _pass_flags(risky=True), "Passes and those known to crash, hang or differ"),
    _space("Pipelines", PIPELINES, "The standard optimisation levels as single actions"),
    _space(
        "PassesAndPipelines",
        _pass_flags(risky=False) + PIPELINES,
        "Passes, then the standard levels: a search may start from -Oz",
    ),
    _space(
        LEGACY,
        _legacy(),
        "The 124 actions of CompilerGym 0.2.5, in their order",
        style="opt-flags",  # its flags are the names that they had
    ),
    _parameters(),
    _marks()[0],
    *_codegen(),
    _marks()[1],
)
