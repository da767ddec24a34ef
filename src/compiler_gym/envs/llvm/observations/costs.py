# SPDX-License-Identifier: MIT
"""The costs: for each, its observation and the row from which baselines and rewards follow."""

from compiler_gym.envs.llvm.observations.shapes import COUNT
from compiler_gym.session import ScalarSpec, SpaceSpec
from compiler_gym.tables import Cost, Level, Observation

__all__ = ["AT_RESET", "COSTS_OF_IR", "COSTS_OF_PROGRAMS", "LEVELS"]

_CLANG_LEVELS = ("O0", "O1", "O2", "O3", "Os", "Oz")
PUBLISHED = Level(
    "OptOz",
    "OptOz",
    "after opt -passes='default<Oz>' without the attributes minsize and optsize",
    label="opt -Oz",
)
"""What CompilerGym 0.2.5 and papers compare with. It leaves more than clang -Oz, which marks
functions; there is no such pair for -O3, which marks none."""
_COST_LEVELS = (
    *(Level(level, level, f"after clang -{level}") for level in _CLANG_LEVELS),
    PUBLISHED,
)
LEVELS = tuple(level.name for level in _COST_LEVELS)
"""The baselines of every cost: clang's levels, and what publications compare with."""
AT_RESET = Level("Initial", "reset", "at reset, before any action")
"""Where rewards count from. It is no level of clang: goals mark functions, and -O0 does not."""


def _cost(
    name: str,
    observation: str,
    compute: str,
    description: str,
    *,
    unit: str,
    platform_dependent: bool = True,
    deterministic: bool = True,
    space: SpaceSpec = COUNT,
) -> tuple[Observation, Cost]:
    row = Observation(
        name=observation,
        space=space,
        description=description,
        compute=compute,
        deterministic=deterministic,
        platform_dependent=platform_dependent,
        default=0,
    )
    cost = Cost(
        name=name,
        observation=observation,
        unit=unit,
        deterministic=deterministic,
        platform_dependent=platform_dependent,
        levels=_COST_LEVELS,
        at_reset=AT_RESET,
        scales=("O3", "Oz", PUBLISHED.name),
        normalized="Norm",
    )
    return row, cost


COSTS_OF_IR: tuple[Observation | Cost, ...] = (
    *_cost(
        "IrInstructionCount",
        "IrInstructionCount",
        "Module.instruction_count",
        "The number of IR instructions of all functions.",
        unit="instructions",
        platform_dependent=False,
    ),
    *_cost(
        "ObjectTextSize",
        "ObjectTextSizeBytes",
        "Module.object_text_size",
        "The size in bytes of the code sections of the module's object file, for x86-64 or the "
        "machine that ``?target=`` names.",
        unit="bytes",
    ),
)

COSTS_OF_PROGRAMS: tuple[Observation | Cost, ...] = (
    *_cost(
        "TextSize",
        "TextSizeBytes",
        "executable.text_size",
        "The bytes of machine code of the linked program. Start-up code counts; an error where "
        "the program does not link.",
        unit="bytes",
    ),
    *_cost(
        "LinkedTextSize",
        "LinkedTextSizeBytes",
        "executable.measure_linked_text",
        "The bytes of machine code of the stripped program that clang and lld link with "
        "``--gc-sections --icf=safe``. Position-independent, as clang links by itself; an error "
        "where the program does not link, or lld is not installed.",
        unit="bytes",
    ),
    *_cost(
        "LinkedSize",
        "LinkedSizeBytes",
        "executable.measure_linked_size",
        "The size in bytes of the file of the stripped program that clang and lld link with "
        "``--gc-sections --icf=safe``: code, data, and what loads it.",
        unit="bytes",
    ),
    *_cost(
        "ObjectInstructionCount",
        "ObjectInstructionCount",
        "object_instruction_count",
        "The machine instructions of the module's object file. As llvm-objdump lists them.",
        unit="instructions",
    ),
    *_cost(
        "McaCycles",
        "McaCycles",
        "mca_cycles",
        "Cycles for one run of the program on a Skylake, by llvm-mca (with ``?target=`` on a "
        "Neoverse N1 or a SiFive U74). Blocks count as often as "
        "LLVM's static frequencies and the calls of their function say; a call counts as its "
        "own instructions only. Code that clang -O0 makes has no frequencies: McaCyclesO0 is of "
        "the program at reset.",
        unit="cycles",
        space=ScalarSpec(0.0, None, "float"),
    ),
    *_cost(
        "RuntimeInstructions",
        "RuntimeInstructions",
        "executable.instructions",
        "The instructions that the program retires on a small case. Counted by perf, or by "
        "valgrind where the processor's counters are closed.",
        unit="instructions",
        deterministic=False,  # perf counts two runs alike to 0.1 %
    ),
)
