# SPDX-License-Identifier: MIT
"""Features of a program for a policy: shares of instruction kinds before any pass.

Modules are read one at a time and summed, so computing features links nothing.
"""

import math
from array import array
from collections.abc import Iterable, Iterator

from compiler_gym import _llvm

__all__ = ["FEATURES", "compute_features", "list_functions"]

_SHARES = (
    "Br", "Switch", "Call", "Invoke", "Load", "Store", "Alloca", "GetElementPtr", "ICmp", "FCmp",
    "Add", "Sub", "Mul", "And", "Or", "Shl", "SExt", "ZExt", "Trunc", "PHI", "Select",
    "Unreachable",
)  # fmt: skip
"""Instructions whose share of all instructions is a feature."""
_FLOATS = ("FAdd", "FSub", "FMul", "FDiv", "FNeg", "FPExt", "FPTrunc", "SIToFP", "FPToSI")
"""Floating-point instructions, counted together as one feature."""
FEATURES = (
    "log2 of instructions", "log2 of functions", "instructions per function",
    "blocks per function", "modules", "is a library", "Float", *_SHARES,
)  # fmt: skip
"""The names of the features that `compute_features` returns, in order."""


def compute_features(modules: Iterable[bytes], *, is_shared: bool) -> list[float]:
    """Return the features of the program linked from `modules`, given as unoptimised bitcode.

    Raises `BenchmarkInitError` for a module that the engine cannot read.
    """
    names = _llvm.inst_count_names()
    totals = dict.fromkeys(names, 0)
    number = 0
    for data in modules:
        number += 1
        counts = array("q", _llvm.Module(data).inst_count())
        for name, count in zip(names, counts, strict=True):
            totals[name] += count
    instructions = max(1, totals["TotalInstsCount"])
    functions = max(1, totals["TotalFuncsCount"])
    floats = sum(totals[f"{name}Count"] for name in _FLOATS)
    return [
        math.log2(instructions),
        math.log2(functions),
        math.log2(instructions / functions),
        math.log2(1 + totals["TotalBlocksCount"] / functions),
        math.log2(1 + number),
        float(is_shared),
        floats / instructions,
        *(totals[f"{name}Count"] / instructions for name in _SHARES),
    ]


def list_functions(modules: Iterable[bytes]) -> Iterator[str]:
    """Yield the names of all defined functions, each once; raises like `compute_features`."""
    names = dict[str, None]()
    for data in modules:
        graph = _llvm.call_graph(_llvm.Module(data))
        pairs = zip(graph["names"], array("b", graph["is_defined"]), strict=True)
        names.update((name, None) for name, is_defined in pairs if is_defined)
    yield from names
