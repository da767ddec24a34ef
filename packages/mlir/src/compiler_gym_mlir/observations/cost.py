# SPDX-License-Identifier: MIT
"""Estimate the instructions that a module executes, by walking its loops without compiling."""

import re
from typing import Any

from compiler_gym_mlir.state.operations import describe
from compiler_gym_mlir.toolchain.bindings import load

__all__ = ["static_cost"]

_LANES = 16
_UNKNOWN_TRIPS = 8
_VECTOR = re.compile(r"vector<([0-9x]+)x[a-z]")


def static_cost(module: Any) -> float:
    """Return an estimate of executed instructions; a vector counts once per 16 elements."""
    with load().context:
        return _estimate_cost(module.body.operations[0].operation)


def _estimate_cost(operation: Any) -> float:
    if operation.name.startswith("linalg."):
        if operation.name in ("linalg.pack", "linalg.unpack"):
            return float(_elements(operation))
        summary = describe(operation, "")
        work = sum(count for _, count in summary.arithmetic)
        return float(summary.iterations * (work + len(summary.inputs) + len(summary.outputs)))
    inner = sum(
        _estimate_cost(inner_operation.operation)
        for region in operation.regions
        for block in region.blocks
        for inner_operation in block.operations
    )
    if operation.name == "scf.for":
        return _trips(operation) * (inner + 2)
    if operation.name == "scf.forall":
        return _UNKNOWN_TRIPS * inner
    return inner + _vectors(operation)


def _trips(loop: Any) -> float:
    low, high, step = (_constant(operand) for operand in list(loop.operands)[:3])
    if low is None or high is None or not step:
        return _UNKNOWN_TRIPS
    return max(0.0, -(-(high - low) // step))


def _constant(value: Any) -> int | None:
    owner = getattr(value.owner, "name", None)
    return int(value.owner.attributes["value"].value) if owner == "arith.constant" else None


def _vectors(operation: Any) -> float:
    if not operation.name.startswith("vector."):
        return 0.0
    kinds = [str(value.type) for value in (*operation.results, *operation.operands)]
    lanes = max(
        (_element_count(match[1]) for kind in kinds if (match := _VECTOR.search(kind))), default=1
    )
    if operation.name == "vector.contract":
        sizes = [_element_count(match[1]) for kind in kinds if (match := _VECTOR.search(kind))]
        lanes = round((sizes[0] * sizes[1] * sizes[2]) ** 0.5) if len(sizes) > 2 else lanes
    return max(1.0, lanes / _LANES)


def _elements(operation: Any) -> int:
    total = 1
    for size in operation.results[0].type.shape:
        total *= max(1, int(size))
    return total


def _element_count(sizes: str) -> int:
    total = 1
    for size in sizes.split("x"):
        total *= int(size)
    return total
