# SPDX-License-Identifier: MIT
"""What can be seen: the observation spaces of a GCC session.

Names are those of CompilerGym 0.2.5 where it has them. A cost has baselines,
which are the same program compiled with a level and nothing else.
"""

from collections.abc import Sequence

from compiler_gym.envs.gcc.actions import values_of
from compiler_gym.envs.gcc.machine.options import Option
from compiler_gym.session import (
    BoxSpec,
    ObservationSpaceSpec,
    OpaqueSpec,
    ScalarSpec,
    SequenceSpec,
    TextSpec,
)

__all__ = ["BASELINES", "COSTS", "RUN_COSTS", "observation_spaces"]

_MOST = 2**63 - 2

COSTS = {
    "asm_size": "The size of the assembly in bytes",
    "obj_size": "The size of the object file in bytes",
    "text_size": "The size in bytes of the object's sections that hold code",
}
"""What can be lowered."""

RUN_COSTS = {
    "runtime_seconds": "The wall-clock time of the program's largest case, the median of `runtime`",
    "runtime_instructions": "The instructions that the program retires on a small case",
}
"""What can be lowered and is measured by running the program."""

BASELINES = {"o0": "-O0", "o1": "-O1", "o2": "-O2", "o3": "-O3", "os": "-Os"}
"""What a cost is compared with: ``obj_size_os`` is `obj_size` at ``-Os``."""


def observation_spaces(options: Sequence[Option]) -> tuple[ObservationSpaceSpec, ...]:
    """Return every observation space of a compiler with these options."""
    return (
        _text("source", "The program's preprocessed source."),
        _text("rtl", "GCC's last register transfer language, as its dump shows it."),
        _text("asm", "The assembly."),
        _cost("asm_size", f"{COSTS['asm_size']}."),
        _text("asm_hash", "The SHA-1 of the assembly, 40 hexadecimal digits.", 40),
        ObservationSpaceSpec(
            "instruction_counts",
            OpaqueSpec("json"),
            "How often each mnemonic occurs in the assembly: a dictionary.",
            platform_dependent=True,
            default="{}",
        ),
        ObservationSpaceSpec(
            "obj",
            SequenceSpec("bytes"),
            "The object file; that of several source files is linked into one.",
            platform_dependent=True,
            default=b"",
        ),
        _cost("obj_size", f"{COSTS['obj_size']}."),
        _text("obj_hash", "The SHA-1 of the object file, 40 hexadecimal digits.", 40),
        _cost("text_size", f"{COSTS['text_size']}."),
        ObservationSpaceSpec(
            "choices",
            BoxSpec(-1, max(map(len, options)) - 1, (len(options),), "int64"),
            "The number of the chosen setting of each option; -1 leaves it to the compiler.",
            default=[-1] * len(options),
        ),
        _text("command_line", "The command that compiles the program as it is now."),
        ObservationSpaceSpec(
            "action_mask",
            BoxSpec(0, 1, (_width(options),), "int8"),
            "Which actions of OptionThenValue there are now: 1 where there is one.",
            default=[0] * _width(options),
        ),
        ObservationSpaceSpec(
            "runtime",
            SequenceSpec("float"),
            "Wall-clock times of the program's largest case in seconds, as many as "
            "`runtime_observation_count` says.",
            deterministic=False,
            platform_dependent=True,
            default=[],
        ),
        _run_cost("runtime_seconds", f"{RUN_COSTS['runtime_seconds']}."),
        _run_cost("runtime_instructions", f"{RUN_COSTS['runtime_instructions']}."),
        *_baselines(),
    )


def _width(options: Sequence[Option]) -> int:
    return max(len(options), *(len(values_of(option)) for option in options))


def _text(name: str, description: str, length: int | None = None) -> ObservationSpaceSpec:
    return ObservationSpaceSpec(
        name,
        TextSpec(0, length),
        description,
        platform_dependent=name not in ("choices", "command_line"),
        default="",
    )


def _cost(name: str, description: str) -> ObservationSpaceSpec:
    return ObservationSpaceSpec(
        name, ScalarSpec(0, _MOST, "int"), description, platform_dependent=True, default=0
    )


def _run_cost(name: str, description: str) -> ObservationSpaceSpec:
    dtype = "int" if "instructions" in name else "float"
    return ObservationSpaceSpec(
        name,
        ScalarSpec(0, _MOST if dtype == "int" else None, dtype),
        description,
        deterministic=False,
        platform_dependent=True,
        default=0,
    )


def _baselines() -> list[ObservationSpaceSpec]:
    return [
        _cost(f"{cost}_{short}", f"{description}, compiled with {level} alone.")
        for cost, description in COSTS.items()
        for short, level in BASELINES.items()
    ] + [
        _run_cost(f"{cost}_{short}", f"{description}, compiled with {level} alone.")
        for cost, description in RUN_COSTS.items()
        for short, level in BASELINES.items()
    ]
