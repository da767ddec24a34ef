# SPDX-License-Identifier: MIT
"""Compute the results of a payload with NumPy in double precision, without MLIR's code.

The body of an operation is evaluated on whole arrays: each operand is viewed through its access as
an array with an axis for every loop, and the axes of reductions are folded.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from compiler_gym_mlir.state.operations import Access, Operation, describe
from compiler_gym_mlir.state.pieces import write_module
from compiler_gym_mlir.toolchain.bindings import load, report_diagnostics
from compiler_gym_mlir.toolchain.running import Array

__all__ = [
    "TOLERANCES",
    "UnknownOperationError",
    "evaluate",
    "evaluate_quickly",
    "worst_error",
]

TOLERANCES = {"float32": 1e-4, "float64": 1e-10, "int32": 0.0, "int64": 0.0}
"""The largest error by type, as a share of the largest right result."""
_MOST_ELEMENTS = 1 << 28
Value = Any


class UnknownOperationError(Exception):
    """The reference does not support an operation of the payload."""


def evaluate(payload: str, inputs: Sequence[Array]) -> list[Array]:
    """Return the results of `payload`; raise `UnknownOperationError` if one is not supported."""
    loaded = load()
    with report_diagnostics("the reference"):
        module = loaded.ir.Module.parse(payload)
        if "linalg.softmax" in payload:
            text = (
                '%m = transform.structured.match ops{["linalg.softmax"]} in %root : '
                "(!transform.any_op) -> !transform.any_op\n"
                "%d = transform.structured.decompose_interface %m : "
                "(!transform.any_op) -> !transform.any_op\n"
            )
            script = loaded.ir.Module.parse(write_module(text))
            loaded.interpret(module.operation, script.body.operations[0], script.operation)
        passes = "builtin.module(func.func(linalg-generalize-named-ops))"
        loaded.pass_manager.parse(passes).run(module.operation)
        block = module.body.operations[0].operation.regions[0].blocks[0]
        values: dict[Any, Value] = {}
        for argument, array in zip(block.arguments, inputs, strict=True):
            values[argument] = array.astype(np.float64 if array.dtype.kind == "f" else array.dtype)
        for operation in block.operations:
            op = operation.operation
            if op.name == "func.return":
                return [np.asarray(values[operand]) for operand in op.operands]
            _evaluate(op, values)
    raise UnknownOperationError("func.return")


def evaluate_quickly(payload: str, inputs: Sequence[Array]) -> Callable[[], object] | None:
    """Return NumPy's own operation for a payload that consists of one, in the payload's type.

    Supports a matrix product, single or batched; returns None for anything else.
    """
    module = load().ir.Module.parse(payload, load().context)
    with load().context:
        block = module.body.operations[0].operation.regions[0].blocks[0]
        names = [operation.operation.name for operation in block.operations]
    work = [name for name in names if name.startswith("linalg.") and name != "linalg.fill"]
    if work not in (["linalg.matmul"], ["linalg.batch_matmul"]) or len(inputs) != 2:
        return None
    out = np.matmul(inputs[0], inputs[1])
    return lambda: np.matmul(inputs[0], inputs[1], out=out)


def worst_error(found: Array, wanted: Array) -> float:
    """Return the largest difference, as a share of the largest right magnitude."""
    if not np.all(np.isfinite(wanted)):
        same = np.isfinite(found) == np.isfinite(wanted)
        found, wanted = np.where(same, found, np.nan), np.nan_to_num(wanted)
        found = np.where(np.isinf(found), 0, found)
    difference = np.max(np.abs(found.astype(np.float64) - wanted), initial=0.0)
    if not np.isfinite(difference):
        return float("inf")
    return float(difference / max(float(np.max(np.abs(wanted), initial=0.0)), 1e-30))


def _evaluate(op: Any, values: dict[Any, Value]) -> None:
    if op.name == "linalg.generic":
        _generic(op, values)
    elif op.name == "tensor.empty":
        kind = op.results[0].type
        values[op.results[0]] = np.zeros(tuple(kind.shape), _dtype(kind.element_type))
    elif op.name == "arith.constant":
        values[op.results[0]] = _constant_value(op)
    elif op.name in ("tensor.collapse_shape", "tensor.expand_shape"):
        values[op.results[0]] = values[op.operands[0]].reshape(tuple(op.results[0].type.shape))
    elif op.name == "tensor.pad":
        values[op.results[0]] = _pad(op, values)
    else:
        raise UnknownOperationError(op.name)


def _constant_value(op: Any) -> Value:
    ir = load().ir
    value, kind = op.attributes["value"], op.results[0].type
    if isinstance(value, ir.DenseElementsAttr):
        if value.is_splat:
            splat: Any = value.get_splat_value().value
            full: Array = np.full(tuple(kind.shape), splat)
            return full
        return np.array(value).astype(_dtype(kind.element_type))
    return value.value


def _pad(op: Any, values: dict[Any, Value]) -> Array:
    low, high = list(op.attributes["static_low"]), list(op.attributes["static_high"])
    inner = op.regions[0].blocks[0].operations
    if len(op.operands) > 1 or len(inner) != 1:
        raise UnknownOperationError("tensor.pad with a computed size or value")
    filler = values[inner[0].operation.operands[0]]
    return np.pad(values[op.operands[0]], list(zip(low, high, strict=True)), constant_values=filler)


def _generic(op: Any, known: dict[Any, Value]) -> None:
    summary = describe(op, "")
    count = len(summary.outputs)
    accesses = (*summary.inputs, *summary.outputs)
    if any(not any(row) and size != 1 for a in accesses for size, row in _access_rows(a)):
        raise UnknownOperationError("linalg.generic with an access that is not a sum of loops")
    arrays = [known[operand] for operand in op.operands]
    body = op.regions[0].blocks[0]
    if count == 1 and (product := _product(summary, body, arrays)) is not None:
        known[op.results[0]] = product
        return
    if summary.iterations > _MOST_ELEMENTS:
        raise UnknownOperationError("linalg.generic with too many iterations")
    views = [
        _operand_view(array, access, summary.bounds)
        for array, access in zip(arrays, accesses, strict=True)
    ]
    values = dict(zip(body.arguments, views, strict=True))
    accumulators = list(body.arguments)[-count:]
    for operation in body.operations:
        inner = operation.operation
        if inner.name == "linalg.yield":
            for index, operand in enumerate(inner.operands):
                out = summary.outputs[index]
                known[op.results[index]] = _fold(
                    operand=operand,
                    accumulator=accumulators[index],
                    values=values,
                    known=known,
                    summary=summary,
                    out=out,
                    start=arrays[len(summary.inputs) + index],
                )
            return
        if inner.name == "linalg.index":
            values[inner.results[0]] = _counter(int(inner.attributes["dim"].value), summary.bounds)
        elif inner.name == "arith.constant":
            values[inner.results[0]] = _constant_value(inner)
        elif _folds(inner, accumulators) and "reduction" in summary.iterators:
            values[inner.results[0]] = inner  # folded when it is yielded
        else:
            values[inner.results[0]] = _compute_results(inner, values, known)


def _folds(inner: Any, accumulators: list[Any]) -> bool:
    return inner.name in _REDUCE and any(o in accumulators for o in inner.operands)


def _fold(
    operand: Any,
    accumulator: Any,
    values: dict[Any, Value],
    known: dict[Any, Value],
    summary: Operation,
    out: Access,
    start: Array,
) -> Array:
    value = values.get(operand, known.get(operand))
    order = _order(out)
    if "reduction" not in summary.iterators:
        full = np.broadcast_to(np.asarray(value), summary.bounds)
        return np.ascontiguousarray(np.transpose(full, order)).reshape(out.shape)
    inner: Any = value
    if getattr(inner, "name", None) not in _REDUCE:
        raise UnknownOperationError("a reduction that is not folded")
    other = next(o for o in inner.operands if o != accumulator)
    data = np.broadcast_to(np.asarray(values.get(other, known.get(other))), summary.bounds)
    axes = tuple(i for i, kind in enumerate(summary.iterators) if kind == "reduction")
    fold = _REDUCE[inner.name]
    reduced = fold.reduce(data, axis=axes)
    remaining = [i for i in range(len(summary.bounds)) if i not in axes]
    reduced = np.transpose(reduced, [remaining.index(i) for i in order]).reshape(out.shape)
    return fold(start, reduced)


def _product(summary: Operation, body: Any, arrays: list[Array]) -> Array | None:
    """Return the sum of products of two operands using einsum, or None if it is not one."""
    names = [operation.operation.name for operation in body.operations]
    if (
        names
        not in (
            ["arith.mulf", "arith.addf", "linalg.yield"],
            ["arith.muli", "arith.addi", "linalg.yield"],
        )
        or len(arrays) != 3
    ):
        return None
    first = body.operations[0].operation
    if list(first.operands) != list(body.arguments)[:2]:
        return None
    terms: list[str] = []
    views: list[Array] = []
    for array, access in zip(arrays[:2], summary.inputs, strict=True):
        used = [d for d in range(len(summary.bounds)) if any(row[d] for row in access.matrix)]
        view = _operand_view(array, access, summary.bounds)
        views.append(view[tuple(slice(None) if d in used else 0 for d in range(view.ndim))])
        terms.append("".join(chr(97 + d) for d in used))
    result = "".join(chr(97 + d) for d in _order(summary.outputs[0]))
    summed = np.einsum(f"{','.join(terms)}->{result}", *views, optimize=True)
    return arrays[2] + summed.reshape(summary.outputs[0].shape)


def _operand_view(array: Value, access: Access, bounds: tuple[int, ...]) -> Array:
    """Return a view of `array` with an axis for every loop."""
    array = np.asarray(array)
    strides = [0] * len(bounds)
    for stride, row in zip(array.strides, access.matrix, strict=True):
        for loop, factor in enumerate(row):
            strides[loop] += factor * stride
    return np.lib.stride_tricks.as_strided(array, bounds, strides, writeable=False)


def _access_rows(access: Access) -> list[tuple[int, tuple[int, ...]]]:
    return list(zip(access.shape, access.matrix, strict=True))


def _order(out: Access) -> list[int]:
    return [row.index(1) for row in out.matrix if any(row)]


def _counter(loop: int, bounds: tuple[int, ...]) -> Array:
    shape = [1] * len(bounds)
    shape[loop] = bounds[loop]
    return np.arange(bounds[loop]).reshape(shape)


def _compute_results(inner: Any, values: dict[Any, Value], known: dict[Any, Value]) -> Value:
    if inner.name not in _COMPUTE:
        raise UnknownOperationError(inner.name)
    operands = [values.get(operand, known.get(operand)) for operand in inner.operands]
    if inner.name in ("arith.cmpf", "arith.cmpi"):
        return _select(inner, operands)
    return _COMPUTE[inner.name](*operands)


def _select(inner: Any, operands: list[Value]) -> Value:
    predicate = str(inner.attributes["predicate"])
    number = int(predicate.split(":")[0])
    table = _FLOAT_ORDER if inner.name == "arith.cmpf" else _INT_ORDER
    if number not in table:
        raise UnknownOperationError(f"{inner.name} {predicate}")
    return table[number](*operands)


def _dtype(kind: Any) -> str:
    return "float64" if str(kind).startswith(("f", "bf")) else "int64"


def _erf(value: Value) -> Value:
    return np.vectorize(math.erf)(value)


def _inverse_root(value: Value) -> Value:
    return 1 / np.sqrt(value)


def _multiply_and_add(a: Value, b: Value, c: Value) -> Value:
    return a * b + c


def _same(value: Value) -> Value:
    return value


_REDUCE: dict[str, Any] = {
    "arith.addf": np.add, "arith.addi": np.add, "arith.mulf": np.multiply,
    "arith.muli": np.multiply, "arith.maximumf": np.maximum, "arith.maxnumf": np.fmax,
    "arith.maxsi": np.maximum, "arith.minimumf": np.minimum, "arith.minnumf": np.fmin,
    "arith.minsi": np.minimum,
}  # fmt: skip

_FLOAT_ORDER: dict[int, Callable[..., Value]] = {
    1: np.equal, 2: np.greater, 3: np.greater_equal, 4: np.less, 5: np.less_equal,
    8: np.equal, 9: np.greater, 10: np.greater_equal, 11: np.less, 12: np.less_equal,
    13: np.not_equal,
}  # fmt: skip
_INT_ORDER: dict[int, Callable[..., Value]] = {
    0: np.equal, 1: np.not_equal, 2: np.less, 3: np.less_equal, 4: np.greater, 5: np.greater_equal,
}  # fmt: skip

_COMPUTE: dict[str, Callable[..., Value]] = {
    **_REDUCE,
    "arith.subf": np.subtract, "arith.subi": np.subtract, "arith.divf": np.divide,
    "arith.negf": np.negative, "arith.select": np.where, "arith.cmpf": np.less,
    "arith.cmpi": np.less, "math.exp": np.exp, "math.sqrt": np.sqrt, "math.tanh": np.tanh,
    "math.erf": _erf, "math.absf": np.abs, "math.log": np.log, "math.powf": np.power,
    "math.rsqrt": _inverse_root, "math.fma": _multiply_and_add, "arith.index_cast": _same,
    "arith.extf": _same, "arith.truncf": _same, "arith.sitofp": _same, "arith.fptosi": np.trunc,
}  # fmt: skip
