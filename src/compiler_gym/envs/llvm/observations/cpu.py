# SPDX-License-Identifier: MIT
"""Properties of the processor, read from ``/proc`` and ``/sys``."""

import os
from functools import cache
from pathlib import Path

__all__ = ["CPU_COUNTS", "cpu_info"]

CPU_COUNTS = (
    "cores_count",
    *(
        f"{cache}_cache_{what}"
        for cache in ("l1d", "l1i", "l2", "l3", "l4")
        for what in ("count", "size")
    ),
)
"""The numbers of ``CpuInfo``; its other key is ``name``."""


@cache
def cpu_info() -> dict[str, int | str]:
    """Return the value of ``CpuInfo``, read from ``/proc`` and ``/sys``."""
    info: dict[str, int | str] = dict.fromkeys(CPU_COUNTS, 0)
    info["cores_count"] = os.cpu_count() or 0
    info["name"] = _cpu_name()
    counted: set[tuple[str, str]] = set()
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
        if f"{name}_cache_size" not in info or (name, shared) in counted:
            continue
        counted.add((name, shared))
        info[f"{name}_cache_count"] = int(info[f"{name}_cache_count"]) + 1
        info[f"{name}_cache_size"] = _bytes_of_size(size)
    return info


def _cpu_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return ""


def _bytes_of_size(size: str) -> int:
    scale = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(size[-1:], 1)
    digits = size.rstrip("KMG")
    return int(digits) * scale if digits.isdigit() else 0
