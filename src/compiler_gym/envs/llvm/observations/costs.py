# SPDX-License-Identifier: MIT
"""The costs: for each, its observation and the row that defines its baselines and rewards."""

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
"""The baseline of CompilerGym 0.2.5 and of papers. It produces larger code than clang -Oz, which
adds attributes to functions; clang -O3 adds none, so it needs no second baseline."""
_COST_LEVELS = (
    *(Level(level, level, f"after clang -{level}") for level in _CLANG_LEVELS),
    PUBLISHED,
)
LEVELS = tuple(level.name for level in _COST_LEVELS)
"""The baselines of every cost: clang's levels and `PUBLISHED`."""
AT_RESET = Level("Initial", "reset", "at reset, before any action")
"""The starting point of rewards. It differs from clang -O0: goals add attributes to functions."""


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
        "The number of IR instructions in all functions.",
        unit="instructions",
        platform_dependent=False,
    ),
    *_cost(
        "ObjectTextSize",
        "ObjectTextSizeBytes",
        "Module.object_text_size",
        "The size in bytes of the code sections of the module's object file, for x86-64 or the "
        "target that ``?target=`` names.",
        unit="bytes",
    ),
)

COSTS_OF_PROGRAMS: tuple[Observation | Cost, ...] = (
    *_cost(
        "TextSize",
        "TextSizeBytes",
        "executable.text_size",
        "The bytes of machine code in the linked program, start-up code included. An error if the "
        "program does not link.",
        unit="bytes",
    ),
    *_cost(
        "LinkedTextSize",
        "LinkedTextSizeBytes",
        "executable.measure_linked_text",
        "The bytes of machine code in the stripped program that clang and lld link with "
        "``--gc-sections --icf=safe``. Position-independent, which is clang's default. An error if "
        "the program does not link or lld is not installed.",
        unit="bytes",
    ),
    *_cost(
        "LinkedSize",
        "LinkedSizeBytes",
        "executable.measure_linked_size",
        "The size in bytes of the stripped executable that clang and lld link with "
        "``--gc-sections --icf=safe``: code, data and loader information.",
        unit="bytes",
    ),
    *_cost(
        "ObjectInstructionCount",
        "ObjectInstructionCount",
        "object_instruction_count",
        "The number of machine instructions in the module's object file. The same as llvm-objdump "
        "lists.",
        unit="instructions",
    ),
    *_cost(
        "McaCycles",
        "McaCycles",
        "mca_cycles",
        "Estimated cycles for one run of the program on a Skylake, from llvm-mca (with "
        "``?target=``, on a Neoverse N1 or a SiFive U74). Blocks are weighted with LLVM's static "
        "frequencies and the number of calls of their function; a call counts only its own "
        "instructions. Code from clang -O0 has no frequencies, so McaCyclesO0 is the value at "
        "reset.",
        unit="cycles",
        space=ScalarSpec(0.0, None, "float"),
    ),
    *_cost(
        "RuntimeInstructions",
        "RuntimeInstructions",
        "executable.instructions",
        "The number of instructions that the program retires on a small case. Counted with perf, "
        "or with valgrind if the processor's counters are not accessible.",
        unit="instructions",
        deterministic=False,  # two runs under perf differ by up to 0.1 %
    ),
)
