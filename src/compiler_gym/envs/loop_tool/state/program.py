# SPDX-License-Identifier: MIT
"""The language: what is read, combined, reduced and written over named dimensions.

A program says nothing of how it is run. Elementwise nodes are part of what uses them;
each reduction, kept value and write is a statement, the leaf of a loop nest.
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
"""The elementwise operations of two values, and how they are written."""
UNARY: Mapping[str, str] = {"exp": "exp({})", "sqrt": "sqrt({})", "neg": "(-{})"}
"""The elementwise operations of one value."""

Axis = tuple[tuple[str, int], ...]
"""The place on one axis of a tensor: a sum of dimensions, each times a positive factor."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """An array of float32 in C order."""

    name: str
    shape: tuple[int, ...]
    """Elements along each axis; empty for a single number."""
    role: str
    """``"input"``, ``"output"`` or ``"temporary"``."""

    @property
    def elements(self) -> int:
        """Number of numbers that it holds."""
        return prod(self.shape)


@dataclass(frozen=True, slots=True)
class Access:
    """The element of a tensor at a point of the loops."""

    tensor: str
    index: tuple[Axis, ...]
    strides: tuple[tuple[str, int], ...]
    """How far one step along each dimension goes, in elements; dimensions in order of the axes."""

    @property
    def dims(self) -> tuple[str, ...]:
        """The dimensions that the place depends on."""
        return tuple(dim for dim, _ in self.strides)

    @property
    def is_plain(self) -> bool:
        """True if each axis is one dimension, and no dimension has two axes."""
        return all(len(axis) == 1 and axis[0][1] == 1 for axis in self.index) and len(
            self.strides
        ) == len(self.index)

    def stride(self, dim: str) -> int:
        """Return how many elements one step along `dim` goes: 0 where the place stays."""
        return dict(self.strides).get(dim, 0)

    def __str__(self) -> str:
        axes = ("+".join(d if c == 1 else f"{c}*{d}" for d, c in axis) for axis in self.index)
        return f"{self.tensor}[{', '.join(axes)}]"


@dataclass(frozen=True, slots=True)
class Operation:
    """An elementwise operation: a key of `BINARY` or `UNARY` and as many operands."""

    op: str
    operands: tuple["Expression", ...]


Expression = Access | Operation | float


@dataclass(frozen=True, slots=True)
class Statement:
    """What the leaf of a nest does at a point: set an element, or add it to a reduction.

    The result of a reduction is 0 (``sum``) or -infinity (``max``) before its first point.
    """

    out: Access
    """Always plain."""
    reduction: str
    """``""``, ``"sum"`` or ``"max"``."""
    over: tuple[str, ...]
    """The dimensions that are reduced: none of them is one of `out`."""
    value: Expression

    @property
    def dims(self) -> tuple[str, ...]:
        """Every dimension: those of the result as it lies in memory, then those reduced."""
        return (*self.out.dims, *self.over)

    @property
    def reads(self) -> tuple[Access, ...]:
        """The accesses of the value, each once, in the order in which they are written."""
        return tuple(dict.fromkeys(accesses(self.value)))

    @property
    def operations(self) -> int:
        """The floating-point operations of one point; `exp` and `sqrt` count as one."""
        return operations(self.value) + bool(self.reduction)

    def __str__(self) -> str:
        sign = {"": "=", "sum": "+=", "max": "max="}[self.reduction]
        return f"{self.out} {sign} {write_expression(self.value)}"


@dataclass(frozen=True, slots=True)
class Program:
    """Statements in the order in which they run, and the tensors that they use."""

    dims: Mapping[str, int]
    """The size of each dimension."""
    tensors: Mapping[str, Tensor]
    statements: tuple[Statement, ...]
    """Each tensor that is no input is written by exactly one of them, before it is read."""
    target: str = "cpu"
    """``"cpu"`` or ``"cuda"``."""
    splits: int = 1
    """Number of loops that each dimension begins with; all but the outermost run once."""
    text: str = ""
    """What it was read from."""

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """The tensors that are given."""
        return tuple(t for t in self.tensors.values() if t.role == "input")

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        """The tensors that are asked for."""
        return tuple(t for t in self.tensors.values() if t.role == "output")

    @property
    def flops(self) -> int:
        """The floating-point operations of one run; a statement that only copies counts as one."""
        return sum(max(1, s.operations) * self.points(s) for s in self.statements)

    @property
    def bytes(self) -> int:
        """The bytes of all inputs and outputs: the least that has to be moved."""
        return sum(4 * t.elements for t in self.tensors.values() if t.role != "temporary")

    def points(self, statement: Statement) -> int:
        """Return how often `statement` runs."""
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
    """Return how many operations an expression has."""
    return sum(1 for _ in operators(value))


def write_expression(value: Expression) -> str:
    """Return an expression as text."""
    if not isinstance(value, Operation):
        return str(value)
    form = BINARY.get(value.op) or UNARY[value.op]
    return form.format(*map(write_expression, value.operands))
