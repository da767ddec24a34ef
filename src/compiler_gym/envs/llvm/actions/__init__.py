# SPDX-License-Identifier: MIT
"""The action spaces, read from two tables.

``passes.tsv`` lists LLVM's transforms with their pipeline text and tier. ``risky`` passes are
only in ``PassesAll``; ``varying`` passes gave different results in different runs of
``python -m scripts.repeatability``.
``legacy_actions.tsv`` maps the 124 actions of CompilerGym 0.2.5 to today's passes.
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
    "FUNCTION_PASSES",
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
"""The action spaces with decisions finer than a pass."""

_SEES_IDS = ("mergefunc",)
"""Passes that compare instructions including their ids, and would therefore find fewer matches."""

CODEGEN = "Codegen"
"""The action space that sets every option of the code generator at once."""

NO_OP = "no-op-module"
"""The pipeline of an old action whose pass no longer exists: LLVM's pass that does nothing."""

PIPELINES = tuple(
    FlagSpec(f"-{level}", f"default<{level}>", f"The standard -{level} pipeline, as one action")
    for level in ("O0", "O1", "O2", "O3", "Os", "Oz")
)

LINK_TIME = tuple(
    FlagSpec(f"{kind}<Oz>", f"{kind}<Oz>", description)
    for kind, description in (
        ("lto-pre-link", "The passes that clang -Oz -flto runs on each module before the link"),
        ("lto", "The passes that the linker then runs on all modules merged into one"),
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
"""Passes that give different results in different runs."""


def _varying(items: tuple[FlagSpec, ...]) -> tuple[int, ...]:
    """Return the numbers of the items that run a pass with varying results."""
    names = re.compile(r"[\w-]+")
    return tuple(n for n, i in enumerate(items) if not {*VARYING}.isdisjoint(names.findall(i.flag)))


@cache
def legacy_flags() -> frozenset[str]:
    """Return the names of the actions in CompilerGym 0.2.5."""
    return frozenset(row[0] for row in _table_rows("legacy_actions.tsv"))


def _legacy() -> tuple[FlagSpec, ...]:
    """Return the old actions, described like today's passes unless the table has a remark."""
    descriptions = {item.flag: item.description for item in _pass_flags(risky=True)}
    rows = ([*row, "", ""][:3] for row in _table_rows("legacy_actions.tsv"))
    return tuple(
        FlagSpec(name, pipeline or NO_OP, remark or descriptions.get(pipeline, ""))
        for name, pipeline, remark in rows
    )


def _space(
    name: str, items: tuple[FlagSpec, ...], description: str, style: str = "opt"
) -> ActionSpaceSpec:
    return ActionSpaceSpec(name, CommandlineSpec(items, style=style), description, _varying(items))


def _marks() -> tuple[ActionSpaceSpec, ...]:
    """Return the two spaces of marks: without and with options of the code generator."""
    items = tuple(i for i in _pass_flags(risky=False) if i.name not in _SEES_IDS) + PIPELINES
    alone, together = MARKS
    return (
        _space(
            alone,
            items,
            "Passes, levels, and decisions on each call site, loop and function of the program, "
            "such as `call:17=never`",
            style="marks",
        ),
        _space(
            together,
            items + codegen_options.flags()[0],
            "All decisions: Marks, and actions that each set one option of the code generator",
            style="marks",
        ),
    )


def _parameters() -> ActionSpaceSpec:
    """Return the space of the passes, each with its parameters, and the levels."""
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
        "A pass or a level, and values for its parameters; below 0 keeps LLVM's default",
    )


def _codegen() -> tuple[ActionSpaceSpec, ...]:
    """Return the spaces that set options of the code generator, with and without passes."""
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
            "Every option of the code generator at once: 0 is the default, n the n-th value",
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
            "PassesAndPipelines, actions that set one option of the code generator, and the levels "
            "of link-time optimisation",
        ),
        ActionSpaceSpec(
            "PipelinesAndCodegen",
            CommandlineSpec(PIPELINES + items, style="opt"),
            "The standard levels, and actions that each set one option of the code generator",
            sets=(0,) * len(PIPELINES) + tuple(number + 1 for number in sets),
        ),
    )


ACTION_SPACES = (
    _space("Passes", _pass_flags(risky=False), "Deterministic, safe transforms (the default)"),
    _space("PassesAll", _pass_flags(risky=True), "Passes plus those that can crash, hang or vary"),
    _space("Pipelines", PIPELINES, "The standard optimisation levels as single actions"),
    _space(
        "PassesAndPipelines",
        _pass_flags(risky=False) + PIPELINES,
        "Passes, then the standard levels, so that a search can start from -Oz",
    ),
    _space(
        LEGACY,
        _legacy(),
        "The 124 actions of CompilerGym 0.2.5, in their order",
        style="opt-flags",  # its flags are the old names
    ),
    _parameters(),
    _marks()[0],
    *_codegen(),
    _marks()[1],
)

FUNCTION_PASSES = _space(
    "FunctionPasses",
    tuple(item for item in _pass_flags(risky=False) if item.flag.startswith("function(")),
    "The passes of `Passes` that change one function at a time",
    style="words",
)
"""The action space for passes on one function."""
