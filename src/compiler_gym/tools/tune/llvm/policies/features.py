# SPDX-License-Identifier: MIT
"""What a policy sees of a program: counts of the engine, before any pass, as shares.

Modules are read one after the other and summed, so that nothing is linked to look at it.
"""

import math
from array import array
from collections.abc import Iterable

from compiler_gym import _llvm

__all__ = ["FEATURES", "compute_features", "list_functions"]

_SHARES = (
    "Br", "Switch", "Call", "Invoke", "Load", "Store", "Alloca", "GetElementPtr", "ICmp", "FCmp",
    "Add", "Sub", "Mul", "And", "Or", "Shl", "SExt", "ZExt", "Trunc", "PHI", "Select",
    "Unreachable",
)  # fmt: skip
"""Instructions that are counted, as shares of all."""
_FLOATS = ("FAdd", "FSub", "FMul", "FDiv", "FNeg", "FPExt", "FPTrunc", "SIToFP", "FPToSI")
"""Those that compute with floating-point numbers, counted as one."""
FEATURES = (
    "log2 of instructions", "log2 of functions", "instructions per function",
    "blocks per function", "modules", "is a library", "Float", *_SHARES,
)  # fmt: skip
"""The names of what `compute_features` returns, in its order."""


def compute_features(modules: Iterable[bytes], *, is_shared: bool) -> list[float]:
    """Return the features of a program that is linked of `modules`, bitcode of a front end.

    Raises `BenchmarkInitError` for what the engine cannot read.
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


def list_functions(modules: Iterable[bytes]) -> list[str]:
    """Return the names of all functions with a body, each once; raise like `compute_features`."""
    names = dict[str, None]()
    for data in modules:
        graph = _llvm.call_graph(_llvm.Module(data))
        pairs = zip(graph["names"], array("b", graph["is_defined"]), strict=True)
        names.update((name, None) for name, is_defined in pairs if is_defined)
    return list(names)
