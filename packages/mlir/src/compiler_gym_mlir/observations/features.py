# SPDX-License-Identifier: MIT
"""Features of operations, in the format of MLIR-RL's agents."""

import math
from collections.abc import Iterable, Sequence

from compiler_gym_mlir.state.operations import Access, Operation

__all__ = ["LOOPS", "WIDTH", "compute_features", "make_table"]

LOOPS = 7
_OPERANDS, _DIMENSIONS = 4, 5
_ARITHMETIC = ("add", "sub", "mul", "div", "exp", "max", "other")
WIDTH = 1 + LOOPS + LOOPS + _OPERANDS * _DIMENSIONS * LOOPS + len(_ARITHMETIC) + 3 + 1


def compute_features(operation: Operation, limits: Sequence[int], is_current: bool) -> list[float]:
    """Return the features of one operation, truncated to the available space."""
    loops = min(len(limits), LOOPS)
    counts = dict(operation.arithmetic)
    row = [float(is_current)]
    row += [math.log2(1 + max(limit, 0)) for limit in limits[:loops]] + [0.0] * (LOOPS - loops)
    kinds = [1.0 if kind == "parallel" else -1.0 for kind in operation.iterators[:loops]]
    row += kinds + [0.0] * (LOOPS - loops)
    accesses = [*operation.inputs[: _OPERANDS - 1], *operation.outputs[:1]]
    for position in range(_OPERANDS):
        row += _matrix(accesses[position] if position < len(accesses) else None)
    row += [float(counts.get(kind, 0)) for kind in _ARITHMETIC]
    row += [float(operation.depth), math.log2(1 + operation.flops), float(operation.is_dynamic)]
    return [*row, 1.0]


def make_table(rows: Iterable[list[float]], count: int) -> list[list[float]]:
    """Return `count` rows: `rows`, truncated or padded with zeros."""
    table = list(rows)[:count]
    return table + [[0.0] * WIDTH for _ in range(count - len(table))]


def _matrix(access: Access | None) -> list[float]:
    values: list[float] = []
    for dimension in range(_DIMENSIONS):
        has_row = access is not None and dimension < len(access.matrix)
        row = access.matrix[dimension][:LOOPS] if access is not None and has_row else ()
        values += [float(factor) for factor in row] + [0.0] * (LOOPS - len(row))
    return values
