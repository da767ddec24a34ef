# SPDX-License-Identifier: MIT
"""The language: reads, elementwise operations, reductions and writes over named dimensions.

A program does not define how it runs. Elementwise nodes become part of their uses; each
reduction, kept value and write is a statement, the leaf of a loop nest.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

__all__ = [
    "BINARY",
    "UNARY",
    "Access",
    "Axis",
    "Expression",
    "Operation",
    "Program",
    "Statement",
    "Tensor",
    "accesses",
    "operations",
    "operators",
    "write_expression",
]

BINARY: Mapping[str, str] = {
    "add": "({} + {})",
    "sub": "({} - {})",
    "mul": "({} * {})",
    "div": "({} / {})",
    "max": "max({}, {})",
    "min": "min({}, {})",
}
"""The elementwise operations on two values, with their notation."""
UNARY: Mapping[str, str] = {"exp": "exp({})", "sqrt": "sqrt({})", "neg": "(-{})"}
"""The elementwise operations on one value, with their notation."""

Axis = tuple[tuple[str, int], ...]
"""The index on one axis of a tensor: a sum of dimensions, each times a positive factor."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """An array of float32 in C order."""

    name: str
    shape: tuple[int, ...]
    """Elements along each axis; empty for a scalar."""
    role: str
    """``"input"``, ``"output"`` or ``"temporary"``."""

    @property
    def elements(self) -> int:
        """Number of elements."""
        return prod(self.shape)


@dataclass(frozen=True, slots=True)
class Access:
    """The element of a tensor at a point of the iteration space."""

    tensor: str
    index: tuple[Axis, ...]
    strides: tuple[tuple[str, int], ...]
    """The distance of one step along each dimension, in elements, in the order of the axes."""

    @property
    def dims(self) -> tuple[str, ...]:
        """The dimensions that the index depends on."""
        return tuple(dim for dim, _ in self.strides)

    @property
    def is_plain(self) -> bool:
        """True if each axis is one dimension, and no dimension has two axes."""
        return all(len(axis) == 1 and axis[0][1] == 1 for axis in self.index) and len(
            self.strides
        ) == len(self.index)

    def stride(self, dim: str) -> int:
        """Return the distance of one step along `dim`, in elements; 0 if it does not matter."""
        return dict(self.strides).get(dim, 0)

    def __str__(self) -> str:
        axes = ("+".join(d if c == 1 else f"{c}*{d}" for d, c in axis) for axis in self.index)
        return f"{self.tensor}[{', '.join(axes)}]"


@dataclass(frozen=True, slots=True)
class Operation:
    """An elementwise operation: a key of `BINARY` or `UNARY`, and its operands."""

    op: str
    operands: tuple["Expression", ...]


Expression = Access | Operation | float


@dataclass(frozen=True, slots=True)
class Statement:
    """The leaf of a nest: at each point it sets an element, or adds to a reduction.

    A reduction starts with 0 (``sum``) or -infinity (``max``).
    """

    out: Access
    """The result, always plain."""
    reduction: str
    """``""``, ``"sum"`` or ``"max"``."""
    over: tuple[str, ...]
    """The reduced dimensions, none of them in `out`."""
    value: Expression

    @property
    def dims(self) -> tuple[str, ...]:
        """Every dimension: those of the result in memory order, then the reduced ones."""
        return (*self.out.dims, *self.over)

    @property
    def reads(self) -> tuple[Access, ...]:
        """The accesses of the value, without repeats, in textual order."""
        return tuple(dict.fromkeys(accesses(self.value)))

    @property
    def operations(self) -> int:
        """Number of floating-point operations per point; `exp` and `sqrt` count as one."""
        return operations(self.value) + bool(self.reduction)

    def __str__(self) -> str:
        sign = {"": "=", "sum": "+=", "max": "max="}[self.reduction]
        return f"{self.out} {sign} {write_expression(self.value)}"


@dataclass(frozen=True, slots=True)
class Program:
    """Statements in execution order, and the tensors that they use."""

    dims: Mapping[str, int]
    """The size of each dimension."""
    tensors: Mapping[str, Tensor]
    statements: tuple[Statement, ...]
    """The statements; each non-input tensor is written by exactly one, before it is read."""
    target: str = "cpu"
    """``"cpu"`` or ``"cuda"``."""
    splits: int = 1
    """Initial number of loops per dimension; all but the outermost run once."""
    text: str = ""
    """The source of the program."""

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """The input tensors."""
        return tuple(t for t in self.tensors.values() if t.role == "input")

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        """The output tensors."""
        return tuple(t for t in self.tensors.values() if t.role == "output")

    @property
    def flops(self) -> int:
        """Number of floating-point operations in a run; a statement that copies counts as one."""
        return sum(max(1, s.operations) * self.points(s) for s in self.statements)

    @property
    def bytes(self) -> int:
        """Bytes of all inputs and outputs: the minimum memory traffic."""
        return sum(4 * t.elements for t in self.tensors.values() if t.role != "temporary")

    def points(self, statement: Statement) -> int:
        """Return the number of points at which `statement` runs."""
        return prod(self.dims[dim] for dim in statement.dims)


def accesses(value: Expression) -> Iterator[Access]:
    """Yield the accesses of an expression, from left to right."""
    if isinstance(value, Access):
        yield value
    elif isinstance(value, Operation):
        for operand in value.operands:
            yield from accesses(operand)


def operators(value: Expression) -> Iterator[str]:
    """Yield the operations of an expression, the outermost first."""
    if isinstance(value, Operation):
        yield value.op
        for operand in value.operands:
            yield from operators(operand)


def operations(value: Expression) -> int:
    """Return the number of operations in an expression."""
    return sum(1 for _ in operators(value))


def write_expression(value: Expression) -> str:
    """Return an expression as text."""
    if not isinstance(value, Operation):
        return str(value)
    form = BINARY.get(value.op) or UNARY[value.op]
    return form.format(*map(write_expression, value.operands))
