# SPDX-License-Identifier: MIT
"""Comparisons of small numbers."""

from typing import Any

from compiler_gym.envs.llvm.demonstration.comparison import Comparison


def row(**facts: Any) -> Comparison:
    """Return a program of 200 instructions, of which -Oz leaves 100 and the search 80."""
    known: dict[str, Any] = {
        "name": "crc32", "benchmark": "benchmark://cbench-v1/crc32", "initial": 180, "o0": 200,
        "o3": 120, "oz": 100, "baseline": 110, "found": 80, "actions": ["sroa"],
        "command": "opt-22 -passes=sroa crc32.bc -o crc32.found.bc",
    }  # fmt: skip
    return Comparison(**{**known, **facts})
