# SPDX-License-Identifier: MIT
"""What can be seen: the observation spaces that a session computes.

Names, shapes and meanings are those of CompilerGym 0.2.5 where it has them.
Derived spaces, computed by the client, are at the end.
"""

import os
from functools import cache
from pathlib import Path

from compiler_gym.envs.llvm.observations.costs import LEVELS, SPEED_SPACES, costs
from compiler_gym.envs.llvm.observations.names import (
    AUTOPHASE_FEATURES,
    INST_COUNT_FEATURES,
    MOST,
    counts,
)
from compiler_gym.envs.llvm.observations.structure import STRUCTURE_SPACES
from compiler_gym.session import (
    BoxSpec,
    DictSpec,
    ObservationSpaceSpec,
    ScalarSpec,
    SequenceSpec,
    TextSpec,
)

__all__ = [
    "AUTOPHASE_FEATURES",
    "BASELINE_COSTS",
    "INST_COUNT_FEATURES",
    "LEVELS",
    "OBSERVATION_SPACES",
    "cpu_info",
]

BASELINE_COSTS = {
    "IrInstructionCount": "IrInstructionCount",
    "ObjectTextSize": "ObjectTextSizeBytes",
    "TextSize": "TextSizeBytes",
    "ObjectInstructionCount": "ObjectInstructionCount",
    "McaCycles": "McaCycles",
    "RuntimeInstructions": "RuntimeInstructions",
}
"""The costs that clang's levels are baselines of: their prefix, and the cost now."""

_COUNT = ScalarSpec(0, MOST, "int")
_CPU_COUNTS = (
    "cores_count",
    *(
        f"{cache}_cache_{what}"
        for cache in ("l1d", "l1i", "l2", "l3", "l4")
        for what in ("count", "size")
    ),
)


def _text(name: str, length: int | None, description: str) -> ObservationSpaceSpec:
    shortest = length or 0
    return ObservationSpaceSpec(
        name, SequenceSpec("str", shortest, length), description, default=" " * shortest
    )


OBSERVATION_SPACES: tuple[ObservationSpaceSpec, ...] = (
    _text("Ir", None, "The module as LLVM IR text, without value names."),
    _text("IrSha1", 40, "The SHA-1 of the module's bitcode, 40 hexadecimal digits."),
    _text(
        "IrHash",
        32,
        "A 128-bit hash of the IR, 32 hexadecimal digits: the same on every machine, and equal "
        "when the bitcode is.",
    ),
    ObservationSpaceSpec(
        "Bitcode",
        BoxSpec(-128, 127, (-1,), "int8"),
        "The module as LLVM bitcode: an int8 array of the file's bytes.",
        default=b"",
    ),
    ObservationSpaceSpec(
        "BitcodeFile",
        SequenceSpec("str", 0, 4096),
        "The path of a file with the module's bitcode, removed when the episode ends.",
        deterministic=False,
        default="",
    ),
    counts(
        "InstCount",
        len(INST_COUNT_FEATURES),
        "Instructions by opcode after the totals: int64[70]. Functions count with declarations.",
    ),
    counts(
        "Autophase",
        len(AUTOPHASE_FEATURES),
        "The features of the AutoPhase paper (Huang et al., 2019): int64[56].",
    ),
    ObservationSpaceSpec(
        "CpuInfo",
        DictSpec({**dict.fromkeys(_CPU_COUNTS, _COUNT), "name": TextSpec()}),
        "The processor: cores, caches (bytes) and name; 0 where the kernel does not say.",
        platform_dependent=True,
        default={**dict.fromkeys(_CPU_COUNTS, 0), "name": ""},
    ),
    *costs(
        "IrInstructionCount",
        "IrInstructionCount",
        "The number of IR instructions of all functions.",
        platform=False,
    ),
    *costs(
        "ObjectTextSize",
        "ObjectTextSizeBytes",
        "The size in bytes of the code sections of the module's x86-64 object file.",
        platform=True,
    ),
    *STRUCTURE_SPACES,
    *SPEED_SPACES,
)


@cache
def cpu_info() -> dict[str, int | str]:
    """Return the value of ``CpuInfo`` from what Linux says in ``/proc`` and ``/sys``."""
    found: dict[str, int | str] = dict.fromkeys(_CPU_COUNTS, 0)
    found["cores_count"] = os.cpu_count() or 0
    found["name"] = _cpu_name()
    seen: set[tuple[str, str]] = set()
    for index in Path("/sys/devices/system/cpu").glob("cpu[0-9]*/cache/index[0-9]*"):
        try:
            level, kind, size, shared = (
                (index / file).read_text().strip()
                for file in ("level", "type", "size", "shared_cpu_list")
            )
        except OSError:
            continue
        name = f"l{level}" + (
            {"Data": "d", "Instruction": "i"}.get(kind, "") if level == "1" else ""
        )
        if f"{name}_cache_size" not in found or (name, shared) in seen:
            continue
        seen.add((name, shared))
        found[f"{name}_cache_count"] = int(found[f"{name}_cache_count"]) + 1
        found[f"{name}_cache_size"] = _bytes(size)
    return found


def _cpu_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return ""


def _bytes(size: str) -> int:
    scale = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(size[-1:], 1)
    digits = size.rstrip("KMG")
    return int(digits) * scale if digits.isdigit() else 0
