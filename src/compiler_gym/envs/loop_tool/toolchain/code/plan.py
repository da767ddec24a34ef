# SPDX-License-Identifier: MIT
"""How each loop of a tree becomes code: written out, as vectors, as a loop, over threads.

Loops of one iteration disappear. What a reduction adds to stays in registers from the outermost
loop on inside of which only loops that are written out, or vectors, choose its place.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from compiler_gym.envs.loop_tool.state.program import Access, Program, Statement
from compiler_gym.envs.loop_tool.state.tree import Loop, Node, Tree

__all__ = ["MOST_CHUNKS", "LoopPlan", "Nest", "make_plan"]

MOST_CHUNKS = 8
"""Vectors that a loop may have for all of them to be written out; with more it stays a loop."""
_MOST_INSTRUCTIONS = 3000
"""About how many instructions may be written: each takes 10 us to compile. Beyond it nothing is
unrolled, then only what lies side by side becomes vectors."""
_MOST_OF_TAILS = 4 * _MOST_INSTRUCTIONS
"""How many of them tails in tails may make of a tree in which nothing is unrolled."""
_ENOUGH_ACCUMULATORS = 12
"""Sums that do not wait for each other: twice what covers the latency of two units."""


@dataclass(slots=True, eq=False)
class Nest:
    """A loop of more than one iteration, or one with packed operands."""

    dim: str
    step: int
    extent: int
    """What it covers where no tail is outside."""
    body: "list[Nest | int]"
    is_flat: bool = False
    """It is written out."""
    is_vector: bool = False
    is_parallel: bool = False
    packs: tuple[str, ...] = ()
    sums: list[int] = field(default_factory=list[int])
    """The statements whose results stay in registers from before this loop until after it."""

    @property
    def leaves(self) -> tuple[int, ...]:
        """The statements inside, in order."""
        return tuple(
            leaf
            for node in self.body
            for leaf in ((node,) if isinstance(node, int) else node.leaves)
        )


@dataclass(slots=True)
class LoopPlan:
    """What is to be written."""

    program: Program
    roots: list[Nest | int]
    width: int
    """Number of lanes that the widest vector has."""
    is_complete: dict[int, bool] = field(default_factory=dict[int, bool])
    """True if a statement's registers see its whole reduction: then they begin with its identity,
    and memory is only written."""
    is_plain: bool = False
    """True if the tree has so many tails that none is written as code of its own."""
    copies: dict[int, int] = field(default_factory=dict[int, int])
    """In how many partial results a statement's reduction is kept."""

    @property
    def filled(self) -> list[Statement]:
        """The statements whose results have to be set before anything runs."""
        return [
            statement
            for leaf, statement in enumerate(self.program.statements)
            if statement.reduction and not self.is_complete.get(leaf, False)
        ]


def make_plan(tree: Tree, width: int) -> LoopPlan:
    """Return how `tree` is written with vectors of up to `width` lanes."""
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
    """Return about how many instructions are written for a node, its tails among them."""
    if isinstance(node, int):
        statement = plan.program.statements[node]
        return statement.operations + len(statement.reads) + 1
    size, tail = divmod(extents[node.dim], node.step)
    if node.is_vector:
        whole = size // plan.width
        parts = min(whole, MOST_CHUNKS) + (size % plan.width).bit_count()
        return parts * sum(_vector_weight(leaf, node, plan) for leaf in node.leaves)

    def inside(extent: int) -> int:
        covered = {**extents, node.dim: extent}
        return sum(weight(child, covered, plan) for child in node.body)

    copies = size if node.is_flat else min(size, 1)
    return 5 + (copies * inside(node.step) if size else 0) + (inside(tail) if tail else 0)


def _vector_weight(leaf: int, nest: Nest, plan: LoopPlan) -> int:
    """Count elements that are not side by side one by one."""
    apart = sum(access.stride(nest.dim) not in (0, 1) for access in operands(plan.program, leaf))
    return weight(leaf, {}, plan) + 2 * apart * plan.width


def chunks(extent: int, width: int) -> list[tuple[int, int]]:
    """Return the (offset, width) of the vectors that cover `extent` elements."""
    found: list[tuple[int, int]] = []
    at = 0
    while at < extent:
        while width > extent - at:
            width //= 2
        found.append((at, width))
        at += width
    return found


def _without_single_loops(nodes: tuple[Node, ...]) -> list[Node]:
    """Leave out loops of one iteration, unless something is packed in them."""
    found: list[Node] = []
    for node in nodes:
        if isinstance(node, Loop) and node.extent == node.step and not node.packs:
            found.extend(_without_single_loops(node.body))
        else:
            found.append(node)
    return found


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
    """Return whether one step of an innermost loop goes to the next element everywhere."""
    for leaf in nest.leaves:
        statement = program.statements[leaf]
        strides = {access.stride(nest.dim) for access in statement.reads}
        if not strides <= {0, 1}:
            return False
        if nest.dim not in statement.over and statement.out.stride(nest.dim) != 1:
            return False
    return True


def _roll(node: Nest | int, plan: LoopPlan) -> None:
    """Write nothing out in `node`, and leave numbers that are far apart alone."""
    if isinstance(node, int):
        return
    node.is_flat = node.is_flat and node.extent == node.step
    node.is_vector = node.is_vector and _is_contiguous(node, plan.program)
    for child in node.body:
        _roll(child, plan)


def _place_sums(plan: LoopPlan, nest: Nest, around: list[Nest]) -> None:
    """Find the loop from which on the registers of each statement inside `nest` are kept."""
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
        places = 1
        for inner in path[first:]:
            if inner.dim not in statement.over:
                size = inner.extent // inner.step
                places *= len(chunks(size, plan.width)) if inner.is_vector else max(1, size)
        plan.copies[child] = max(1, min(8, _ENOUGH_ACCUMULATORS // places))


def _first_fixed(plan: LoopPlan, path: list[Nest], statement: Statement) -> int | None:
    """Return the number of the outermost loop from which on the result's place is written out."""
    first = None
    for number in range(len(path) - 1, -1, -1):
        nest = path[number]
        if nest.dim in statement.over:
            first = number
        elif not _is_written_out(plan, nest):
            break
    return first


def _is_written_out(plan: LoopPlan, nest: Nest) -> bool:
    if nest.is_vector:
        return nest.extent // plan.width <= MOST_CHUNKS
    return nest.is_flat


def operands(program: Program, leaf: int) -> tuple[Access, ...]:
    """Return what a statement reads and, last, what it writes."""
    statement = program.statements[leaf]
    return (*statement.reads, statement.out)
