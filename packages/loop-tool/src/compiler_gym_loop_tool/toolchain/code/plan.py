# SPDX-License-Identifier: MIT
"""Plan how each loop of a tree is lowered: unrolled, as vectors, as a loop, or over threads.

Loops of one iteration disappear. A reduction's total stays in registers from the outermost loop
inside which only unrolled or vectorised loops select its place.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from compiler_gym_loop_tool.state.program import Access, Program, Statement
from compiler_gym_loop_tool.state.tree import Loop, Node, Tree

__all__ = ["MOST_CHUNKS", "LoopPlan", "Nest", "make_plan"]

MOST_CHUNKS = 8
"""Number of vectors up to which a loop is fully unrolled; larger ones stay loops."""
_MOST_INSTRUCTIONS = 3000
"""Approximate limit of written instructions, which take 10 us each to compile. Beyond it nothing
is unrolled, and then only contiguous elements become vectors."""
_MOST_OF_TAILS = 4 * _MOST_INSTRUCTIONS
"""Limit of instructions for nested tails in a tree without unrolling."""
_ENOUGH_ACCUMULATORS = 12
"""Number of independent sums: twice enough to cover the latency of two units."""


@dataclass(slots=True, eq=False)
class Nest:
    """A loop with more than one iteration, or with packed operands."""

    dim: str
    step: int
    extent: int
    """Number of elements covered outside of tails."""
    body: "list[Nest | int]"
    is_flat: bool = False
    """True if the loop is unrolled."""
    is_vector: bool = False
    is_parallel: bool = False
    packs: tuple[str, ...] = ()
    sums: list[int] = field(default_factory=list[int])
    """The statements whose results stay in registers from before this loop until after it."""

    @property
    def leaves(self) -> tuple[int, ...]:
        """The statements in the loop, in order."""
        return tuple(
            leaf
            for node in self.body
            for leaf in ((node,) if isinstance(node, int) else node.leaves)
        )


@dataclass(slots=True)
class LoopPlan:
    """The plan of a function."""

    program: Program
    roots: list[Nest | int]
    width: int
    """Number of lanes in the widest vector."""
    is_complete: dict[int, bool] = field(default_factory=dict[int, bool])
    """True if a statement's registers see its whole reduction: then they start with its identity,
    and memory is only written."""
    is_plain: bool = False
    """True if the tree has too many tails to give each its own code."""
    copies: dict[int, int] = field(default_factory=dict[int, int])
    """Number of partial results of each statement's reduction."""

    @property
    def filled(self) -> list[Statement]:
        """The statements whose results must be initialised before anything runs."""
        return [
            statement
            for leaf, statement in enumerate(self.program.statements)
            if statement.reduction and not self.is_complete.get(leaf, False)
        ]


def make_plan(tree: Tree, width: int) -> LoopPlan:
    """Return the plan of `tree` with vectors of up to `width` lanes."""
    plan = LoopPlan(
        tree.program,
        [_nest(node, tree.program) for node in _without_single_loops(tree.roots)],
        width,
    )
    extents = dict(tree.program.dims)
    for node in plan.roots:
        if weight(node, extents, plan) > _MOST_INSTRUCTIONS:
            _roll(node, plan)
    total = sum(weight(node, extents, plan) for node in plan.roots)
    plan.is_plain = total > _MOST_OF_TAILS
    for node in plan.roots:
        if isinstance(node, Nest) and not plan.is_plain:
            _place_sums(plan, node, [])
    return plan


def weight(node: Nest | int, extents: Mapping[str, int], plan: LoopPlan) -> int:
    """Return the approximate number of instructions for a node, including its tails."""
    if isinstance(node, int):
        statement = plan.program.statements[node]
        return statement.operations + len(statement.reads) + 1
    size, tail = divmod(extents[node.dim], node.step)
    if node.is_vector:
        full = size // plan.width
        parts = min(full, MOST_CHUNKS) + (size % plan.width).bit_count()
        return parts * sum(_vector_weight(leaf, node, plan) for leaf in node.leaves)

    def inside(extent: int) -> int:
        covered = {**extents, node.dim: extent}
        return sum(weight(child, covered, plan) for child in node.body)

    copies = size if node.is_flat else min(size, 1)
    return 5 + (copies * inside(node.step) if size else 0) + (inside(tail) if tail else 0)


def _vector_weight(leaf: int, nest: Nest, plan: LoopPlan) -> int:
    """Return the weight of a statement, counting non-contiguous elements individually."""
    apart = sum(access.stride(nest.dim) not in (0, 1) for access in operands(plan.program, leaf))
    return weight(leaf, {}, plan) + 2 * apart * plan.width


def chunks(extent: int, width: int) -> list[tuple[int, int]]:
    """Return the (offset, width) of the vectors that cover `extent` elements."""
    parts: list[tuple[int, int]] = []
    at = 0
    while at < extent:
        while width > extent - at:
            width //= 2
        parts.append((at, width))
        at += width
    return parts


def _without_single_loops(nodes: tuple[Node, ...]) -> list[Node]:
    """Remove loops of one iteration, unless they pack operands."""
    result: list[Node] = []
    for node in nodes:
        if isinstance(node, Loop) and node.extent == node.step and not node.packs:
            result.extend(_without_single_loops(node.body))
        else:
            result.append(node)
    return result


def _nest(node: Node, program: Program) -> Nest | int:
    if isinstance(node, int):
        return node
    body = [_nest(child, program) for child in _without_single_loops(node.body)]
    nest = Nest(node.dim, node.step, node.extent, body, packs=node.packs)
    nest.is_parallel = node.parallel and node.extent > node.step
    is_innermost = all(isinstance(child, int) for child in body)
    nest.is_vector = (
        not nest.is_parallel
        and is_innermost
        and not node.packs
        and (node.vectorise or _is_contiguous(nest, program))
    )
    nest.is_flat = (
        not nest.is_parallel and not nest.is_vector and (node.unroll or node.extent == node.step)
    )
    return nest


def _is_contiguous(nest: Nest, program: Program) -> bool:
    """Return True if one step of an innermost loop moves every access by 0 or 1 elements."""
    for leaf in nest.leaves:
        statement = program.statements[leaf]
        strides = {access.stride(nest.dim) for access in statement.reads}
        if not strides <= {0, 1}:
            return False
        if nest.dim not in statement.over and statement.out.stride(nest.dim) != 1:
            return False
    return True


def _roll(node: Nest | int, plan: LoopPlan) -> None:
    """Unroll nothing in `node`, and vectorise only contiguous accesses."""
    if isinstance(node, int):
        return
    node.is_flat = node.is_flat and node.extent == node.step
    node.is_vector = node.is_vector and _is_contiguous(node, plan.program)
    for child in node.body:
        _roll(child, plan)


def _place_sums(plan: LoopPlan, nest: Nest, around: list[Nest]) -> None:
    """Choose the loop from which on the registers of each statement in `nest` are kept."""
    path = [*around, nest]
    for child in nest.body:
        if isinstance(child, Nest):
            _place_sums(plan, child, path)
            continue
        statement = plan.program.statements[child]
        if not statement.reduction:
            continue
        first = _first_fixed(plan, path, statement)
        if first is None:
            continue
        path[first].sums.append(child)
        plan.is_complete[child] = all(
            outer.dim not in statement.over or outer.extent == outer.step for outer in path[:first]
        )
        accumulators = 1
        for inner in path[first:]:
            if inner.dim not in statement.over:
                size = inner.extent // inner.step
                accumulators *= len(chunks(size, plan.width)) if inner.is_vector else max(1, size)
        plan.copies[child] = max(1, min(8, _ENOUGH_ACCUMULATORS // accumulators))


def _first_fixed(plan: LoopPlan, path: list[Nest], statement: Statement) -> int | None:
    """Return the index of the outermost loop inside which the result's place is constant."""
    first = None
    for number in range(len(path) - 1, -1, -1):
        nest = path[number]
        if nest.dim in statement.over:
            first = number
        elif not _is_unrolled(plan, nest):
            break
    return first


def _is_unrolled(plan: LoopPlan, nest: Nest) -> bool:
    if nest.is_vector:
        return nest.extent // plan.width <= MOST_CHUNKS
    return nest.is_flat


def operands(program: Program, leaf: int) -> tuple[Access, ...]:
    """Return the accesses that a statement reads and, last, the one it writes."""
    statement = program.statements[leaf]
    return (*statement.reads, statement.out)
