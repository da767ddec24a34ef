# SPDX-License-Identifier: MIT
"""The operations of a payload: loops, accesses and arithmetic, from the IR.

An operation is identified by its attribute ``tag``, which survives tiling and is restored if a
transformation drops it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from compiler_gym_mlir.toolchain.bindings import load

__all__ = ["DYNAMIC", "Access", "Operation", "handles_in", "operations_in", "read_tag"]

DYNAMIC = -1
"""The length of a loop without a fixed length."""

_WITHOUT_LOOPS = frozenset({"linalg.yield", "linalg.index", "linalg.pack", "linalg.unpack"})
_NO_INTERFACE = frozenset({"linalg.softmax"})
_ARITHMETIC = ("add", "sub", "mul", "div", "exp", "max", "other")


@dataclass(frozen=True, slots=True)
class Access:
    """The access of an operand: its matrix has a row for each dimension of the operand."""

    shape: tuple[int, ...]
    matrix: tuple[tuple[int, ...], ...]
    """The factor of each loop counter; a dimension that is not a linear sum has only zeros."""


@dataclass(frozen=True)
class Operation:
    """One operation of a payload."""

    tag: str
    name: str
    bounds: tuple[int, ...]
    """The length of each loop, or `DYNAMIC` if it is not fixed."""
    iterators: tuple[str, ...]
    """``parallel`` or ``reduction`` for each loop."""
    inputs: tuple[Access, ...]
    outputs: tuple[Access, ...]
    arithmetic: tuple[tuple[str, int], ...]
    """Number of operations of each kind of arithmetic in the innermost loop."""
    depth: int
    """Number of surrounding loops."""
    handle: Any
    """The MLIR operation."""

    @cached_property
    def iterations(self) -> int:
        """Number of runs of the innermost body, counting a dynamic loop as one iteration."""
        total = 1
        for bound in self.bounds:
            total *= max(bound, 1)
        return total

    @property
    def flops(self) -> int:
        """Number of arithmetic operations in the whole nest."""
        return self.iterations * sum(count for _, count in self.arithmetic)

    @property
    def is_dynamic(self) -> bool:
        """True if a loop's length is not fixed."""
        return DYNAMIC in self.bounds


def read_tag(operation: Any) -> str:
    """Return the tag of an operation, or an empty string."""
    attributes = operation.attributes
    if "tag" not in attributes:
        return ""
    value = attributes["tag"]
    return str(value.value) if isinstance(value, load().ir.StringAttr) else ""


def handles_in(root: Any, *, of_interface: bool = False) -> list[Any]:
    """Return the handles of structured operations in the order in which MLIR matches them."""
    handles: list[Any] = []
    none: frozenset[str] = frozenset()
    _walk(root, handles, _WITHOUT_LOOPS | (_NO_INTERFACE if of_interface else none))
    return handles


def operations_in(module: Any) -> dict[str, Operation]:
    """Return every structured operation by tag; the first one of each tag."""
    operations: dict[str, Operation] = {}
    for handle in handles_in(module.operation):
        tag = read_tag(handle)
        if tag and tag not in operations:
            operations[tag] = describe(handle, tag)
    return operations


def describe(handle: Any, tag: str) -> Operation:
    """Return the description of one operation."""
    loaded = load()
    count = len(handle.results)
    operands = list(handle.operands)
    if handle.name in _NO_INTERFACE:
        shape = _shape_of_type(operands[0])
        summed = int(handle.attributes["dimension"].value)
        iterators = tuple("reduction" if i == summed else "parallel" for i in range(len(shape)))
        access = Access(shape, tuple(_unit_row(i, len(shape)) for i in range(len(shape))))
        return Operation(
            tag=tag,
            name=handle.name,
            bounds=shape,
            iterators=iterators,
            inputs=(access,),
            outputs=(access,),
            arithmetic=(("add", 1), ("div", 1), ("exp", 1), ("max", 1), ("sub", 1)),
            depth=_depth(handle),
            handle=handle,
        )
    maps = [affine_map.value for affine_map in loaded.linalg.get_indexing_maps(handle)]
    loops = int(maps[0].n_dims)
    accesses = [
        Access(_shape_of_type(operand), tuple(_factors(e, loops) for e in affine_map.results))
        for operand, affine_map in zip(operands, maps, strict=True)
    ]
    inputs, outputs = accesses[: len(accesses) - count], accesses[len(accesses) - count :]
    written = set[int]()
    for access in outputs:
        written |= {d for row in access.matrix for d, factor in enumerate(row) if factor}
    return Operation(
        tag=tag,
        name=handle.name,
        bounds=_loop_bounds(accesses, loops),
        iterators=tuple("parallel" if loop in written else "reduction" for loop in range(loops)),
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        arithmetic=_arithmetic(handle),
        depth=_depth(handle),
        handle=handle,
    )


def _walk(operation: Any, handles: list[Any], skipped: frozenset[str]) -> None:
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                op = inner.operation
                if op.name.startswith("linalg."):
                    if op.name not in skipped:
                        handles.append(op)
                else:
                    _walk(op, handles, skipped)


def _shape_of_type(value: Any) -> tuple[int, ...]:
    ir = load().ir
    if not isinstance(value.type, ir.ShapedType):
        return ()
    shaped = ir.ShapedType(value.type)
    return tuple(
        DYNAMIC if shaped.is_dynamic_dim(i) else int(shaped.get_dim_size(i))
        for i in range(shaped.rank)
    )


def _unit_row(at: int, count: int) -> tuple[int, ...]:
    return tuple(int(i == at) for i in range(count))


def _factors(expression: Any, loops: int) -> tuple[int, ...]:
    """Return the factor of each loop in a linear sum; zeros for any other expression."""
    factors = [0] * loops
    for factor, loop in _affine_terms(expression):
        if loop >= 0:
            factors[loop] += factor
    return tuple(factors)


def _affine_terms(expression: Any) -> Iterator[tuple[int, int]]:
    ir = load().ir
    if isinstance(expression, ir.AffineDimExpr):
        yield 1, int(ir.AffineDimExpr(expression).position)
    elif isinstance(expression, ir.AffineAddExpr):
        both = ir.AffineAddExpr(expression)
        yield from _affine_terms(both.lhs)
        yield from _affine_terms(both.rhs)
    elif isinstance(expression, ir.AffineMulExpr):
        both = ir.AffineMulExpr(expression)
        for side, other in ((both.lhs, both.rhs), (both.rhs, both.lhs)):
            if isinstance(other, ir.AffineConstantExpr):
                factor = int(ir.AffineConstantExpr(other).value)
                for inner, loop in _affine_terms(side):
                    yield factor * inner, loop
                return


def _loop_bounds(accesses: list[Access], loops: int) -> tuple[int, ...]:
    bounds = [DYNAMIC] * loops
    for access in accesses:
        for size, row in zip(access.shape, access.matrix, strict=True):
            if sorted(row) == [0] * (loops - 1) + [1]:
                loop = row.index(1)
                bounds[loop] = size if bounds[loop] == DYNAMIC else bounds[loop]
    return tuple(bounds)


def _arithmetic(handle: Any) -> tuple[tuple[str, int], ...]:
    counts: dict[str, int] = dict.fromkeys(_ARITHMETIC, 0)
    for region in handle.regions:
        for block in region.blocks:
            for inner in block.operations:
                dialect, _, word = inner.operation.name.partition(".")
                if dialect in ("arith", "math") and word not in ("constant", "index_cast"):
                    kind = next((k for k in _ARITHMETIC if word.startswith(k)), "other")
                    counts["max" if word.startswith("min") else kind] += 1
    return tuple((kind, count) for kind, count in counts.items() if count)


def _depth(handle: Any) -> int:
    depth, parent = 0, handle.parent
    while parent is not None and parent.operation.name != "func.func":
        depth += parent.operation.name in ("scf.for", "scf.forall")
        parent = parent.operation.parent
    return depth
