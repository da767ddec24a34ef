# SPDX-License-Identifier: MIT
"""Observations of a program as machine code: sizes, static speed, and what its runs say."""

from compiler_gym.envs.llvm.observations.names import MOST
from compiler_gym.session import DictSpec, ObservationSpaceSpec, ScalarSpec, SequenceSpec, SpaceSpec

__all__ = ["LEVELS", "SPEED_SPACES", "costs"]

LEVELS = ("O0", "O1", "O2", "O3", "Os", "Oz")

_COUNT = ScalarSpec(0, MOST, "int")
_TIMES = SequenceSpec("float", low=0.0)
_POSITIVE = ScalarSpec(0.0, None, "float")


def costs(
    cost: str,
    now: str,
    description: str,
    *,
    platform: bool,
    space: SpaceSpec = _COUNT,
) -> tuple[ObservationSpaceSpec, ...]:
    """Return the spaces of a cost: of the program now, and after clang at each level."""
    first, rest = description.split(".")[0], description
    names = {now: rest, **{f"{cost}{level}": f"{first}, after clang -{level}." for level in LEVELS}}
    return tuple(
        ObservationSpaceSpec(name, space, text, platform_dependent=platform, default=0)
        for name, text in names.items()
    )


SPEED_SPACES: tuple[ObservationSpaceSpec, ...] = (
    *costs(
        "TextSize",
        "TextSizeBytes",
        "The bytes of machine code of the linked program. Start-up code counts; an error where "
        "the program does not link.",
        platform=True,
    ),
    *costs(
        "ObjectInstructionCount",
        "ObjectInstructionCount",
        "The machine instructions of the module's x86-64 object file. As llvm-objdump lists them.",
        platform=True,
    ),
    *costs(
        "McaCycles",
        "McaCycles",
        "Cycles for one run of the program on a Skylake, by llvm-mca. Blocks count as often as "
        "LLVM's static frequencies and the calls of their function say; a call counts as its "
        "own instructions only. Code that clang -O0 makes has no frequencies: McaCyclesO0 is of "
        "the program at reset.",
        platform=True,
        space=_POSITIVE,
    ),
    *costs(
        "RuntimeInstructions",
        "RuntimeInstructions",
        "The instructions that the program retires on a small case. Counted by perf, or by "
        "valgrind where the processor's counters are closed.",
        platform=True,
    ),
    ObservationSpaceSpec(
        "IsBuildable",
        ScalarSpec(dtype="bool"),
        "Whether the program links.",
        platform_dependent=True,
        default=False,
    ),
    ObservationSpaceSpec(
        "IsRunnable",
        ScalarSpec(dtype="bool"),
        "Whether the program links, says how to run it, and does its first case right.",
        platform_dependent=True,
        default=False,
    ),
    ObservationSpaceSpec(
        "Buildtime",
        _TIMES,
        "How long code generation and linking take, in seconds: a list of one number.",
        deterministic=False,
        platform_dependent=True,
        default=[],
    ),
    ObservationSpaceSpec(
        "Runtime",
        _TIMES,
        "Wall-clock times of the program's largest case, in seconds: as many as "
        "`runtime_observation_count` says, after `runtime_warmup_runs_count` runs.",
        deterministic=False,
        platform_dependent=True,
        default=[],
    ),
    ObservationSpaceSpec(
        "RuntimeComparison",
        DictSpec(
            {
                "speedup": _POSITIVE,
                "low": _POSITIVE,
                "high": _POSITIVE,
                "baseline": _TIMES,
                "candidate": _TIMES,
            }
        ),
        "How many times as fast the program is as at reset, with its 95 % confidence interval: "
        "processor times of both, run in turns on one processor, outliers left out.",
        deterministic=False,
        platform_dependent=True,
        default={"speedup": 1.0, "low": 0.0, "high": 0.0, "baseline": [], "candidate": []},
    ),
)
