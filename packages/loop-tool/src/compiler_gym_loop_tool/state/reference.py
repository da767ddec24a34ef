# SPDX-License-Identifier: MIT
"""The results according to NumPy: random inputs, expected outputs, and the tolerance."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from compiler_gym_loop_tool.state.program import (
    Access,
    Expression,
    Program,
    Statement,
    operators,
)

__all__ = ["Mismatch", "compare", "random_inputs", "reference_outputs"]

Floats = NDArray[np.float32]

_MOST_AT_ONCE = 2**22
"""Number of points computed at once: 32 MiB per operand."""
_EPSILON = float(np.finfo(np.float32).eps)

_NUMPY: Mapping[str, Any] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "max": np.maximum,
    "min": np.minimum,
    "exp": np.exp,
    "sqrt": np.sqrt,
    "neg": np.negative,
}


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The worst element of an output that differs from NumPy's result."""

    tensor: str
    place: tuple[int, ...]
    expected: float
    found: float
    count: int
    """Number of wrong elements in the tensor."""

    def __str__(self) -> str:
        return (
            f"{self.tensor}{list(self.place)} is {self.found!r}, but NumPy computes "
            f"{self.expected!r} ({self.count} such elements)"
        )


def random_inputs(program: Program, seed: int = 0) -> dict[str, Floats]:
    """Return inputs between -1 and 1, or between 0.5 and 1.5 with a quotient or a square root.

    They depend only on the program and `seed`.
    """
    draw = np.random.default_rng(seed)
    used = {op for statement in program.statements for op in operators(statement.value)}
    low, high = (0.5, 1.5) if used & {"div", "sqrt"} else (-1.0, 1.0)
    return {
        tensor.name: (low + (high - low) * draw.random(tensor.shape, np.float32)).astype(np.float32)
        for tensor in program.inputs
    }


def reference_outputs(program: Program, inputs: Mapping[str, Floats]) -> dict[str, NDArray[Any]]:
    """Return the outputs of `program` for `inputs`, computed by NumPy in float64."""
    memory: dict[str, NDArray[np.float64]] = {
        name: np.ascontiguousarray(array, np.float64) for name, array in inputs.items()
    }
    for statement in program.statements:
        memory[statement.out.tensor] = _compute(statement, program, memory)
    return {tensor.name: memory[tensor.name] for tensor in program.outputs}


def compare(
    program: Program, expected: Mapping[str, NDArray[Any]], found: Mapping[str, Floats]
) -> tuple[Mismatch, ...]:
    """Return the errors in `found`: at most one element of each output.

    A sum of k products may be off by k roundings of float32 in either direction.
    """
    terms = max(
        (prod(program.dims[dim] for dim in statement.over) for statement in program.statements),
        default=1,
    )
    slack = _EPSILON * (16 + terms)
    mismatches: list[Mismatch] = []
    for tensor in program.outputs:
        want, got = expected[tensor.name], np.asarray(found[tensor.name], np.float64)
        distance = np.abs(got - want)
        is_wrong = ~(distance <= slack * (1 + np.abs(want)) + 2e-5 * np.abs(want))
        is_wrong &= ~(got == want)  # infinities
        if is_wrong.any():
            worst = np.unravel_index(
                np.argmax(np.where(is_wrong, np.nan_to_num(distance, nan=np.inf), -1)), want.shape
            )
            index = tuple(int(p) for p in worst)
            mismatches.append(
                Mismatch(
                    tensor.name, index, float(want[index]), float(got[index]), int(is_wrong.sum())
                )
            )
    return tuple(mismatches)


def _compute(
    statement: Statement, program: Program, memory: Mapping[str, NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return the complete result of `statement`, with its axes in memory order."""
    dims = statement.dims
    factors = _factors(statement.value)
    if statement.reduction == "sum" and factors is not None:
        return _contract(statement, factors, program, memory)
    shape = tuple(program.dims[dim] for dim in statement.out.dims)
    result = np.empty(shape)
    over = tuple(range(len(statement.out.dims), len(dims)))
    for window in _windows(statement, program):
        sizes = {dim: window.get(dim, (0, program.dims[dim])) for dim in dims}
        value = _evaluate(statement.value, dims, sizes, memory)
        full = np.broadcast_to(value, tuple(size for _, size in sizes.values()))
        index = tuple(slice(sizes[d][0], sum(sizes[d])) for d in statement.out.dims)
        result[index] = _reduce_array(statement.reduction, full, over)
    return result


def _reduce_array(
    reduction: str, values: NDArray[np.float64], over: tuple[int, ...]
) -> NDArray[np.float64]:
    if reduction == "sum":
        return values.sum(over)
    return values.max(over) if reduction == "max" else values


def _windows(statement: Statement, program: Program) -> list[dict[str, tuple[int, int]]]:
    """Return ranges of the first dimension of the result that together cover it."""
    points = program.points(statement)
    if not statement.out.dims or points <= _MOST_AT_ONCE:
        return [{}]
    first = statement.out.dims[0]
    size = program.dims[first]
    rows = max(1, _MOST_AT_ONCE * size // points)
    return [{first: (at, min(rows, size - at))} for at in range(0, size, rows)]


def _evaluate(
    value: Expression,
    dims: tuple[str, ...],
    sizes: Mapping[str, tuple[int, int]],
    memory: Mapping[str, NDArray[np.float64]],
) -> Any:
    if isinstance(value, float | int):
        return value
    if isinstance(value, Access):
        return _view(value, dims, sizes, memory[value.tensor])
    operands = [_evaluate(operand, dims, sizes, memory) for operand in value.operands]
    return _NUMPY[value.op](*operands)


def _view(
    access: Access,
    dims: tuple[str, ...],
    sizes: Mapping[str, tuple[int, int]],
    array: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the elements of `array` with one axis for each of `dims`."""
    strides = dict(access.strides)
    offset = sum(sizes[dim][0] * stride for dim, stride in access.strides)
    return as_strided(
        array.reshape(-1)[offset:],
        tuple(sizes[dim][1] if dim in strides else 1 for dim in dims),
        tuple(array.itemsize * strides.get(dim, 0) for dim in dims),
        writeable=False,
    )


def _factors(value: Expression) -> list[Expression] | None:
    """Return the accesses and numbers whose product is `value`, or None."""
    if isinstance(value, Access | float | int):
        return [value]
    if value.op != "mul":
        return None
    factors: list[Expression] = []
    for operand in value.operands:
        part = _factors(operand)
        if part is None:
            return None
        factors.extend(part)
    return factors


def _contract(
    statement: Statement,
    factors: list[Expression],
    program: Program,
    memory: Mapping[str, NDArray[np.float64]],
) -> NDArray[np.float64]:
    numbers = {dim: at for at, dim in enumerate(statement.dims)}
    operands: list[Any] = []
    factor = 1.0
    used: set[str] = set()
    for part in factors:
        if isinstance(part, float | int):
            factor *= part
            continue
        assert isinstance(part, Access)
        sizes = {dim: (0, program.dims[dim]) for dim in part.dims}
        operands += [
            _view(part, part.dims, sizes, memory[part.tensor]),
            [numbers[dim] for dim in part.dims],
        ]
        used |= set(part.dims)
    out = [numbers[dim] for dim in statement.out.dims]
    result: Any = np.einsum(*operands, out, optimize=True)
    return np.ascontiguousarray(result) * factor
