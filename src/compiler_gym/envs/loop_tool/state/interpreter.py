# SPDX-License-Identifier: MIT
"""What a loop tree means: run point by point, slowly, with nothing left to a compiler."""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from math import exp, inf, sqrt

import numpy as np
from numpy.typing import NDArray

from compiler_gym.envs.loop_tool.state.program import Access, Expression, Program, Statement
from compiler_gym.envs.loop_tool.state.tree import Loop, Tree, list_leaves

__all__ = ["interpret", "start_values"]

Arrays = Mapping[str, NDArray[np.float32]]


def start_values(program: Program) -> dict[str, NDArray[np.float32]]:
    """Return what every tensor that is no input holds before a run: what its reduction begins with.

    Elements that no reduction makes are nan until they are set.
    """
    first = {"": np.nan, "sum": 0.0, "max": -inf}
    return {
        statement.out.tensor: np.full(
            program.tensors[statement.out.tensor].shape, first[statement.reduction], np.float32
        )
        for statement in program.statements
    }


def interpret(tree: Tree, inputs: Arrays) -> dict[str, NDArray[np.float32]]:
    """Return the outputs of one run of `tree`, in which every operation is float64.

    Results are rounded to float32 where they are stored. A million points take seconds.
    """
    program = tree.program
    memory = {**inputs, **start_values(program)}
    run = _Run(program, memory)
    run.nodes(tree.roots, {dim: (0, size) for dim, size in program.dims.items()}, {})
    return {tensor.name: memory[tensor.name] for tensor in program.outputs}


Ranges = Mapping[str, tuple[int, int]]
"""Where the range of each dimension begins, and how many elements it has."""


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
        """Run `loop`: its whole steps, then what is left."""
        begin, extent = ranges[loop.dim]
        for offset in range(0, extent, loop.step):
            inside = {
                **ranges,
                loop.dim: (begin + offset, min(loop.step, extent - offset)),
            }
            parts = {tensor: self.part(loop, tensor, inside) for tensor in loop.packs}
            self.nodes(loop.body, inside, {**packed, **parts})

    def part(self, loop: Loop, tensor: str, ranges: Ranges) -> "_Part":
        """Return a copy of what the body of `loop` may read of `tensor`."""
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
        """Run `statement` at every point of `ranges`: one, where each dimension has a loop."""
        spans = (range(ranges[d][0], sum(ranges[d])) for d in statement.dims)
        for point in product(*spans):
            at = dict(zip(statement.dims, point, strict=True))
            value = self.value(statement.value, at, packed)
            place = _place(statement.out, at)
            out = self.memory[statement.out.tensor]
            if statement.reduction == "sum":
                out[place] += value
            elif statement.reduction == "max":
                out[place] = max(out[place], value)
            else:
                out[place] = value

    def value(
        self, value: Expression, at: Mapping[str, int], packed: Mapping[str, "_Part"]
    ) -> float:
        """Return what `value` is at a point."""
        if isinstance(value, float | int):
            return value
        if isinstance(value, Access):
            place = _place(value, at)
            part = packed.get(value.tensor)
            if part is None:
                return float(self.memory[value.tensor][place])
            return float(part.read(place))
        operands = [self.value(operand, at, packed) for operand in value.operands]
        return float(_COMPUTE[value.op](*operands))


@dataclass(frozen=True, slots=True)
class _Part:
    block: NDArray[np.float32]
    begins: tuple[int, ...]

    def read(self, place: tuple[int, ...]) -> np.float32:
        inside = tuple(p - b for p, b in zip(place, self.begins, strict=True))
        assert all(i >= 0 for i in inside), "read before what was packed"
        return self.block[inside]


def _place(access: Access, at: Mapping[str, int]) -> tuple[int, ...]:
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
