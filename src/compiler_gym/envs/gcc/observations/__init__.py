# SPDX-License-Identifier: MIT
"""The observations: a row for each observation of a GCC session, and one for each cost.

Names are those of CompilerGym 0.2.5 where it has them. The baselines of a cost are the
same program compiled with a level and nothing else. ``compute`` holds the functions that
the rows name; it runs in a worker, so a row names its function by text.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import structs

from compiler_gym.envs.gcc.actions import count_actions
from compiler_gym.envs.gcc.actions.options import ABSENT, Option
from compiler_gym.session import (
    BoxSpec,
    ObservationSpec,
    OpaqueSpec,
    ScalarSpec,
    SequenceSpec,
    TextSpec,
)
from compiler_gym.tables import Cost, Level, Observation, Table

__all__ = ["LEVELS", "TABLE", "observation_spaces"]

_LARGEST_COUNT = 2**63 - 2
_COUNT = ScalarSpec(0, _LARGEST_COUNT, "int")

LEVELS = tuple(
    Level(f"_{option[1:].lower()}", option, f"compiled with {option} alone")
    for option in ("-O0", "-O1", "-O2", "-O3", "-Os")
)
"""What a cost is compared with: ``obj_size_os`` is `obj_size` at ``-Os``."""

SCALES = ("_os", "_o2", "_o3")
"""The levels whose saving counts as 1: ``obj_size_os``."""


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
        _text("rtl", "GCC's last register transfer language, as its dump shows it."),
        _text("asm", "The assembly."),
        _count("asm_size", "The size of the assembly in bytes."),
        _text("asm_hash", "The SHA-1 of the assembly, 40 hexadecimal digits.", length=40),
        Observation(
            name="instruction_counts",
            space=OpaqueSpec("json"),
            description="How often each mnemonic occurs in the assembly: a dictionary.",
            compute="instruction_counts",
            platform_dependent=True,
            default="{}",
        ),
        Observation(
            name="obj",
            space=SequenceSpec("bytes"),
            description="The object file; that of several source files is linked into one.",
            compute="obj",
            platform_dependent=True,
            default=b"",
        ),
        _count("obj_size", "The size of the object file in bytes."),
        _text("obj_hash", "The SHA-1 of the object file, 40 hexadecimal digits.", length=40),
        _count("text_size", "The size in bytes of the object's sections that hold code."),
        Observation(
            name="choices",
            space=None,  # as many as the compiler has options
            description="The number of the chosen setting of each option; -1 leaves it to the "
            "compiler.",
            compute="choices",
        ),
        structs.replace(
            _text("command_line", "The command that compiles the program as it is now."),
            platform_dependent=False,
        ),
        Observation(
            name="action_mask",
            space=None,  # as many as `OptionThenValue` has actions
            description="Which actions of OptionThenValue there are now: 1 where there is one.",
            compute="action_mask",
        ),
        Observation(
            name="runtime",
            space=SequenceSpec("float"),
            description="Wall-clock times of the program's largest case in seconds, as many as "
            "`runtime_observation_count` says.",
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
                "The instructions that the program retires on a small case.",
            ),
            deterministic=False,
        ),
        _cost("asm_size"),
        _cost("obj_size"),
        _cost("text_size"),
        # Scales count a saving below 1 as 1, and programs take less than a second.
        _cost("runtime_seconds", unit="seconds", deterministic=False, scales=(), normalized=""),
        _cost("runtime_instructions", unit="instructions", deterministic=False),
    )
)
"""Every observation, in the order in which they are listed."""


def observation_spaces(options: Sequence[Option]) -> tuple[ObservationSpec, ...]:
    """Return what clients are told of the observations of a compiler with these options."""
    width = count_actions(options)
    most = max(map(len, options)) - 1
    described: dict[str, dict[str, Any]] = {
        "choices": {
            "space": BoxSpec(ABSENT, most, (len(options),), "int64"),
            "default": [ABSENT] * len(options),
        },
        "action_mask": {"space": BoxSpec(0, 1, (width,), "int8"), "default": [0] * width},
    }
    return tuple(
        structs.replace(row, **described.get(row.name, {})).spec() for row in TABLE.observations
    )
