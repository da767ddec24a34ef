# SPDX-License-Identifier: MIT
"""The observations: a row for each observation of a GCC session, and one for each cost.

Names are those of CompilerGym 0.2.5 where it has them. The baselines of a cost are measured on the
same program compiled with a level alone. ``compute`` holds the functions that the rows name; it
runs in a worker, so a row contains the function's name.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import structs

from compiler_gym.session import (
    BoxSpec,
    ObservationSpec,
    OpaqueSpec,
    ScalarSpec,
    SequenceSpec,
    TextSpec,
)
from compiler_gym.tables import Cost, Level, Observation, Table
from compiler_gym_gcc.actions import count_actions
from compiler_gym_gcc.actions.options import ABSENT, Option

__all__ = ["LEVELS", "TABLE", "observation_spaces"]

_LARGEST_COUNT = 2**63 - 2
_COUNT = ScalarSpec(0, _LARGEST_COUNT, "int")

LEVELS = tuple(
    Level(f"_{option[1:].lower()}", option, f"compiled with {option} alone")
    for option in ("-O0", "-O1", "-O2", "-O3", "-Os")
)
"""The baselines of a cost: ``obj_size_os`` is `obj_size` at ``-Os``."""

SCALES = ("_os", "_o2", "_o3")
"""The levels to which rewards are scaled; the level's own saving counts as 1."""


def _text(name: str, description: str, *, length: int | None = None) -> Observation:
    return Observation(
        name=name,
        space=TextSpec(0, length),
        description=description,
        compute=name,
        platform_dependent=True,
        default="",
    )


def _count(name: str, description: str) -> Observation:
    return Observation(
        name=name,
        space=_COUNT,
        description=description,
        compute=name,
        platform_dependent=True,
        default=0,
    )


def _cost(name: str, **facts: Any) -> Cost:
    shared: dict[str, Any] = {"unit": "bytes", "scales": SCALES, "normalized": "_norm"}
    return Cost(
        name=name, observation=name, platform_dependent=True, levels=LEVELS, **(shared | facts)
    )


TABLE = Table(
    (
        _text("source", "The program's preprocessed source."),
        _text("rtl", "The last dump of GCC's register transfer language."),
        _text("asm", "The assembly."),
        _count("asm_size", "The size of the assembly in bytes."),
        _text("asm_hash", "The SHA-1 of the assembly, 40 hexadecimal digits.", length=40),
        Observation(
            name="instruction_counts",
            space=OpaqueSpec("json"),
            description="The number of occurrences of each mnemonic in the assembly: a dictionary.",
            compute="instruction_counts",
            platform_dependent=True,
            default="{}",
        ),
        Observation(
            name="obj",
            space=SequenceSpec("bytes"),
            description="The object file; those of several source files are linked into one.",
            compute="obj",
            platform_dependent=True,
            default=b"",
        ),
        _count("obj_size", "The size of the object file in bytes."),
        _text("obj_hash", "The SHA-1 of the object file, 40 hexadecimal digits.", length=40),
        _count("text_size", "The size in bytes of the object's code sections."),
        Observation(
            name="choices",
            space=None,  # as many as the compiler has options
            description="The number of the chosen setting of each option; -1 for the compiler's "
            "default.",
            compute="choices",
        ),
        structs.replace(
            _text(
                "command_line", "The command that compiles the program with the current options."
            ),
            platform_dependent=False,
        ),
        Observation(
            name="action_mask",
            space=None,  # as many as `OptionThenValue` has actions
            description="A mask of the actions of OptionThenValue: 1 if the action is available.",
            compute="action_mask",
        ),
        Observation(
            name="runtime",
            space=SequenceSpec("float"),
            description="Wall-clock times of the program's largest case, in seconds: "
            "`runtime_observation_count` values.",
            compute="runtime",
            deterministic=False,
            platform_dependent=True,
            default=[],
        ),
        Observation(
            name="runtime_seconds",
            space=ScalarSpec(0, None, "float"),
            description="The wall-clock time of the program's largest case, the median of "
            "`runtime`.",
            compute="runtime_seconds",
            deterministic=False,
            platform_dependent=True,
            default=0,
        ),
        structs.replace(
            _count(
                "runtime_instructions",
                "The number of instructions that the program retires on a small case.",
            ),
            deterministic=False,
        ),
        _cost("asm_size"),
        _cost("obj_size"),
        _cost("text_size"),
        # Scaled rewards treat savings below 1 as 1, but programs take less than a second.
        _cost("runtime_seconds", unit="seconds", deterministic=False, scales=(), normalized=""),
        _cost("runtime_instructions", unit="instructions", deterministic=False),
    )
)
"""Every observation, in the order of listings."""


def observation_spaces(options: Sequence[Option]) -> tuple[ObservationSpec, ...]:
    """Return the specifications of the observations of a compiler with these options."""
    width = count_actions(options)
    largest = max(map(len, options)) - 1
    details: dict[str, dict[str, Any]] = {
        "choices": {
            "space": BoxSpec(ABSENT, largest, (len(options),), "int64"),
            "default": [ABSENT] * len(options),
        },
        "action_mask": {"space": BoxSpec(0, 1, (width,), "int8"), "default": [0] * width},
    }
    return tuple(
        structs.replace(row, **details.get(row.name, {})).spec() for row in TABLE.observations
    )
