# SPDX-License-Identifier: MIT
"""The meaning of a loop tree: a slow interpreter that runs it point by point."""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from math import exp, inf, sqrt

import numpy as np
from numpy.typing import NDArray

from compiler_gym_loop_tool.state.program import Access, Expression, Program, Statement
from compiler_gym_loop_tool.state.tree import Loop, Tree, list_leaves

__all__ = ["interpret", "start_values"]

Arrays = Mapping[str, NDArray[np.float32]]


def start_values(program: Program) -> dict[str, NDArray[np.float32]]:
    """Return the initial value of each tensor that is not an input: its reduction's identity.

    Elements without a reduction are nan until they are set.
    """
    first = {"": np.nan, "sum": 0.0, "max": -inf}
    return {
        statement.out.tensor: np.full(
            program.tensors[statement.out.tensor].shape, first[statement.reduction], np.float32
        )
        for statement in program.statements
    }


def interpret(tree: Tree, inputs: Arrays) -> dict[str, NDArray[np.float32]]:
    """Run `tree` once with float64 arithmetic and return its outputs.

    Results are rounded to float32 when stored. A million points take seconds.
    """
    program = tree.program
    memory = {**inputs, **start_values(program)}
    run = _Run(program, memory)
    run.nodes(tree.roots, {dim: (0, size) for dim, size in program.dims.items()}, {})
    return {tensor.name: memory[tensor.name] for tensor in program.outputs}


Ranges = Mapping[str, tuple[int, int]]
"""The start and the number of elements of each dimension's range."""


@dataclass(frozen=True, slots=True)
class _Run:
    program: Program
    memory: dict[str, NDArray[np.float32]]

    def nodes(
        self, nodes: tuple[Loop | int, ...], ranges: Ranges, packed: Mapping[str, "_Part"]
    ) -> None:
        """Run `nodes` in order over `ranges`."""
        for node in nodes:
            if isinstance(node, int):
                self.statement(self.program.statements[node], ranges, packed)
            else:
                self.loop(node, ranges, packed)

    def loop(self, loop: Loop, ranges: Ranges, packed: Mapping[str, "_Part"]) -> None:
        """Run `loop`: its full steps, then its tail."""
        begin, extent = ranges[loop.dim]
        for offset in range(0, extent, loop.step):
            inside = {
                **ranges,
                loop.dim: (begin + offset, min(loop.step, extent - offset)),
            }
            parts = {tensor: self.part(loop, tensor, inside) for tensor in loop.packs}
            self.nodes(loop.body, inside, {**packed, **parts})

    def part(self, loop: Loop, tensor: str, ranges: Ranges) -> "_Part":
        """Return a copy of the part of `tensor` that the body of `loop` may read."""
        access = next(
            access
            for leaf in list_leaves(loop)
            for access in self.program.statements[leaf].reads
            if access.tensor == tensor
        )
        begins = tuple(ranges[axis[0][0]][0] for axis in access.index)
        ends = tuple(sum(ranges[axis[0][0]]) for axis in access.index)
        block = self.memory[tensor][tuple(map(slice, begins, ends))].copy()
        return _Part(block, begins)

    def statement(
        self, statement: Statement, ranges: Ranges, packed: Mapping[str, "_Part"]
    ) -> None:
        """Run `statement` at every point of `ranges`: one point if each dimension has a loop."""
        spans = (range(ranges[d][0], sum(ranges[d])) for d in statement.dims)
        for point in product(*spans):
            at = dict(zip(statement.dims, point, strict=True))
            value = self.value(statement.value, at, packed)
            index = _compute_index(statement.out, at)
            out = self.memory[statement.out.tensor]
            if statement.reduction == "sum":
                out[index] += value
            elif statement.reduction == "max":
                out[index] = max(out[index], value)
            else:
                out[index] = value

    def value(
        self, value: Expression, at: Mapping[str, int], packed: Mapping[str, "_Part"]
    ) -> float:
        """Return the value of an expression at a point."""
        if isinstance(value, float | int):
            return value
        if isinstance(value, Access):
            index = _compute_index(value, at)
            part = packed.get(value.tensor)
            if part is None:
                return float(self.memory[value.tensor][index])
            return float(part.read(index))
        operands = [self.value(operand, at, packed) for operand in value.operands]
        return float(_COMPUTE[value.op](*operands))


@dataclass(frozen=True, slots=True)
class _Part:
    block: NDArray[np.float32]
    begins: tuple[int, ...]

    def read(self, index: tuple[int, ...]) -> np.float32:
        inside = tuple(p - b for p, b in zip(index, self.begins, strict=True))
        assert all(i >= 0 for i in inside), "read before the packed part"
        return self.block[inside]


def _compute_index(access: Access, at: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(sum(at[dim] * factor for dim, factor in axis) for axis in access.index)


def _negate(value: float) -> float:
    return -value


_COMPUTE: Mapping[str, Callable[..., float]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": np.divide,
    "max": max,
    "min": min,
    "exp": exp,
    "sqrt": sqrt,
    "neg": _negate,
}
