# SPDX-License-Identifier: MIT
"""The parser of the language: every line is checked, and errors name the line."""

import re
from dataclasses import dataclass, replace
from math import prod

from compiler_gym.errors import BenchmarkInitError
from compiler_gym_loop_tool.state.program import (
    BINARY,
    UNARY,
    Access,
    Axis,
    Expression,
    Operation,
    Program,
    Statement,
    Tensor,
)

__all__ = ["MOST_BYTES", "MOST_DIMS", "MOST_ELEMENTS", "MOST_POINTS", "parse_program"]

MOST_ELEMENTS = 2**28
"""The largest number of elements of a tensor, and the largest size of a dimension."""
MOST_BYTES = 2**30
"""The largest total size of a program's tensors, in bytes: a worker that checks a nest needs five
times as much, and has 8 GiB."""
MOST_POINTS = 2**36
"""The largest number of points of a statement: about a minute of a slow nest."""
MOST_DIMS = 12
"""The largest number of dimensions of a program."""
_MOST_STATEMENTS = 16
_MOST_SPLITS = 8
_MOST_NODES = 256

_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_TENSOR = re.compile(r"([A-Za-z]\w*)\[([^\[\]]*)\]")
_TERM = re.compile(r"(?:(\d{1,9})\*)?([A-Za-z]\w*)")
_LITERAL = re.compile(r"-?\d+(\.\d+)?(e-?\d\d?)?", re.ASCII)
_KEEP = "keep"


def parse_program(text: str) -> Program:
    """Parse a program, or raise `BenchmarkInitError`.

    Lines are ``dim NAME SIZE``; ``NAME = read TENSOR[m, 2*h+r]``; ``NAME = OP NAME NAME`` with an
    elementwise operation, whose operands may be numbers; ``NAME = sum NAME [k]`` or ``max`` over
    dimensions; ``NAME = keep NAME``, which computes an elementwise value once for all its uses;
    ``write NAME TENSOR[m, n]``; ``target cpu`` or ``cuda``; ``splits COUNT``. ``#`` begins a
    comment.

        >>> program = parse_program('''
        ...     dim m 4
        ...     dim k 3
        ...     a = read A[m, k]
        ...     s = sum a [k]
        ...     write s S[m]
        ... ''')
        >>> [str(statement) for statement in program.statements]
        ['S[m] += A[m, k]']
    """
    reader = _Reader()
    for number, line in enumerate(text.splitlines(), 1):
        words = " ".join(line.split("#")[0].split())
        try:
            if words:
                reader.read(words)
        except BenchmarkInitError as error:
            raise BenchmarkInitError(f"line {number}, {words[:80]!r}: {error}") from error
    return reader.finish(text)


@dataclass(slots=True)
class _Value:
    expression: Expression
    dims: tuple[str, ...]
    is_result: bool = False
    """True if this is the result of a statement, which may be an output."""


class _Reader:
    """The declarations in the lines so far."""

    def __init__(self) -> None:
        self.dims: dict[str, int] = {}
        self.tensors: dict[str, Tensor] = {}
        self.values: dict[str, _Value] = {}
        self.statements: list[Statement] = []
        self.homes: dict[str, Access] = {}
        """The outputs that replace temporary results."""
        self.target = "cpu"
        self.splits = 1

    def read(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        if word == "dim":
            self._dim(rest.split())
        elif word == "target":
            _expect(rest in ("cpu", "cuda"), f"the target must be cpu or cuda (got {rest!r})")
            self.target = rest
        elif word == "splits":
            self.splits = _parse_integer(rest, _MOST_SPLITS, "splits")
        elif word == "write":
            name, _, target = rest.partition(" ")
            self._write(self._value(name), target)
        else:
            _expect(
                bool(_IDENTIFIER.fullmatch(word)) and rest.startswith("= "),
                "not a line of the language: write dim, target, splits, write or NAME = NODE",
            )
            _expect(word not in self.values, f"{word} is already defined")
            _expect(len(self.values) < _MOST_NODES, f"there are more than {_MOST_NODES} nodes")
            op, _, operands = rest[2:].partition(" ")
            self.values[word] = self._node(word, op, operands)

    def finish(self, text: str) -> Program:
        _expect(any(t.role == "output" for t in self.tensors.values()), "there is no write")
        _expect(
            len(self.statements) <= _MOST_STATEMENTS,
            f"{len(self.statements)} statements; at most {_MOST_STATEMENTS} are possible",
        )
        statements = tuple(self._at_home(statement) for statement in self.statements)
        used = {a.tensor for s in statements for a in (*s.reads, s.out)}
        tensors = {name: t for name, t in self.tensors.items() if name in used}
        program = Program(self.dims, tensors, statements, self.target, self.splits, text)
        total = 4 * sum(t.elements for t in tensors.values())
        _expect(total <= MOST_BYTES, f"the tensors take {total} bytes; the limit is {MOST_BYTES}")
        for statement in statements:
            _expect(bool(statement.dims), f"{statement} has no dimensions to loop over")
            points = program.points(statement)
            _expect(
                points <= MOST_POINTS, f"{statement} has {points} points; at most {MOST_POINTS}"
            )
        return program

    def _dim(self, words: list[str]) -> None:
        _expect(len(words) == 2 and bool(_IDENTIFIER.fullmatch(words[0])), "write dim NAME SIZE")
        name, size = words
        _expect(name not in self.dims, f"the dimension {name} is already defined")
        _expect(len(self.dims) < MOST_DIMS, f"there are more than {MOST_DIMS} dimensions")
        self.dims[name] = _parse_integer(size, MOST_ELEMENTS, f"the size of {name}")

    def _node(self, name: str, op: str, operands: str) -> _Value:
        if op == "read":
            access = self._access(operands, "input")
            return _Value(access, access.dims)
        if op == _KEEP:
            value = self._value(operands)
            return self._add_statement(name, "", (), value, value.dims)
        if "[" in operands:
            return self._reduction(name, op, operands)
        arity = 2 if op in BINARY else 1
        _expect(
            op in BINARY or op in UNARY,
            f"no operation {op!r}; use one of read, sum, keep, {', '.join((*BINARY, *UNARY))}",
        )
        words = operands.split()
        _expect(len(words) == arity, f"{op} takes {arity} values (got {len(words)})")
        values = [self._value(word) for word in words]
        dims = tuple(dict.fromkeys(dim for value in values for dim in value.dims))
        return _Value(Operation(op, tuple(value.expression for value in values)), dims)

    def _reduction(self, name: str, op: str, operands: str) -> _Value:
        _expect(op in ("sum", "max"), f"cannot reduce with {op!r}; use sum or max")
        word, _, listed = operands.partition("[")
        value = self._value(word.strip())
        over = tuple(part.strip() for part in listed.rstrip("] ").split(",") if part.strip())
        for dim in over:
            _expect(
                dim in value.dims,
                f"{word} has no dimension {dim!r}; it has {', '.join(value.dims) or 'none'}",
            )
        _expect(bool(over) and len(set(over)) == len(over), "list the reduced dimensions once")
        result_dims = tuple(dim for dim in value.dims if dim not in over)
        return self._add_statement(name, op, over, value, result_dims)

    def _add_statement(
        self,
        name: str,
        op: str,
        over: tuple[str, ...],
        value: _Value,
        result_dims: tuple[str, ...],
    ) -> _Value:
        out = self._define(f"_{name}", tuple(((dim, 1),) for dim in result_dims), "temporary")
        self.statements.append(Statement(out, op, over, value.expression))
        return _Value(out, result_dims, is_result=True)

    def _write(self, value: _Value, text: str) -> None:
        out = self._access(text, "output")
        _expect(
            out.is_plain and sorted(out.dims) == sorted(value.dims),
            f"{text} must have each dimension of the value exactly once: {', '.join(value.dims)}",
        )
        if value.is_result and isinstance(value.expression, Access):
            temporary = value.expression.tensor
            if temporary not in self.homes:
                self.homes[temporary] = out
                return
        self.statements.append(Statement(out, "", (), value.expression))

    def _at_home(self, statement: Statement) -> Statement:
        out = self._move_expression(statement.out)
        assert isinstance(out, Access)
        return replace(statement, out=out, value=self._move_expression(statement.value))

    def _move_expression(self, value: Expression) -> Expression:
        if isinstance(value, Access):
            return self.homes.get(value.tensor, value)
        if isinstance(value, Operation):
            return replace(value, operands=tuple(map(self._move_expression, value.operands)))
        return value

    def _value(self, word: str) -> _Value:
        if _LITERAL.fullmatch(word):
            return _Value(float(word), ())
        _expect(word in self.values, f"{word!r} is not defined")
        return self.values[word]

    def _access(self, text: str, role: str) -> Access:
        match = _TENSOR.fullmatch(text)
        if match is None:
            raise BenchmarkInitError(f"cannot read {text!r}: write TENSOR[dim, ...]")
        axes = [axis.strip() for axis in match[2].split(",")] if match[2].strip() else []
        return self._define(match[1], tuple(self._axis(axis) for axis in axes), role)

    def _axis(self, text: str) -> Axis:
        terms: list[tuple[str, int]] = []
        for part in text.split("+"):
            match = _TERM.fullmatch(part.strip())
            if match is None:
                raise BenchmarkInitError(f"{text!r} is not a sum of dimensions")
            dim, factor = match[2], int(match[1] or 1)
            _expect(
                dim in self.dims,
                f"no dimension {dim!r}; the dimensions are {', '.join(self.dims) or 'none'}",
            )
            _expect(factor > 0, "a factor is 0")
            terms.append((dim, factor))
        _expect(len({dim for dim, _ in terms}) == len(terms), f"{text!r} repeats a dimension")
        return tuple(terms)

    def _define(self, name: str, index: tuple[Axis, ...], role: str) -> Access:
        shape = tuple(1 + sum(c * (self.dims[dim] - 1) for dim, c in axis) for axis in index)
        _expect(
            prod(shape) <= MOST_ELEMENTS,
            f"{name} has {prod(shape)} elements; the limit is {MOST_ELEMENTS}",
        )
        tensor = Tensor(name, shape, role)
        previous = self.tensors.setdefault(name, tensor)
        _expect(
            role == "input" or previous is tensor, f"{name} is written twice, or is also an input"
        )
        _expect(
            previous == tensor,
            f"{name} is used as {previous.role} {previous.shape} and as {role} {shape}",
        )
        return Access(name, index, _strides(index, shape))


def _strides(index: tuple[Axis, ...], shape: tuple[int, ...]) -> tuple[tuple[str, int], ...]:
    strides: dict[str, int] = {dim: 0 for axis in index for dim, _ in axis}
    step = 1
    for axis, length in zip(reversed(index), reversed(shape), strict=True):
        for dim, factor in axis:
            strides[dim] += factor * step
        step *= length
    return tuple(strides.items())


def _parse_integer(text: str, most: int, noun: str) -> int:
    is_number = text.isascii() and text.isdecimal() and len(text) < 20
    if not is_number or not 1 <= int(text) <= most:
        raise BenchmarkInitError(f"{noun} must be a number from 1 to {most} (got {text!r})")
    return int(text)


def _expect(holds: bool, message: str) -> None:
    if not holds:
        raise BenchmarkInitError(message)
