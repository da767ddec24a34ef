# SPDX-License-Identifier: MIT
"""Loop trees: the order in which the points of a program's statements run, with annotations.

A tree is immutable. A loop covers a range of its dimension: all of it, or the range of one
iteration of the next loop outwards over the same dimension. It goes through the range in steps;
remaining elements form one shorter iteration, the tail, in which inner loops over the same
dimension cover a shorter range. So every tree visits every point exactly once.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import TypeAlias

from compiler_gym_loop_tool.state.program import Program

__all__ = [
    "MOST_LOOPS",
    "Loop",
    "Node",
    "Path",
    "Tree",
    "initial_tree",
    "list_leaves",
    "settle_nodes",
]

MOST_LOOPS = 32
"""The largest number of loops in a tree: actions that would exceed it have no effect."""

Node: TypeAlias = "Loop | int"
"""A loop, or the number of a statement."""
Path = tuple[int, ...]
"""The path of a node: its index among the roots, then among the children, and so on."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop over a range of a dimension."""

    dim: str
    extent: int
    """Number of elements of the dimension that the loop covers outside of tails."""
    step: int
    """Number of elements that one iteration covers: the extent of inner loops over the same
    dimension, or 1."""
    body: "tuple[Loop | int, ...]"
    """The loops and the numbers of statements that each iteration runs, in order."""
    unroll: bool = False
    vectorise: bool = False
    """True to run iterations as vectors, only if the body has no loops."""
    parallel: bool = False
    """True to run iterations in parallel. CPU: the outermost parallel loop uses threads. CUDA:
    the outermost uses blocks, inner ones the threads of a block; a single one uses both."""
    packs: tuple[str, ...] = ()
    """The inputs whose part is copied before the body, in the order in which the body's loops
    read it, so that it is contiguous."""

    @property
    def size(self) -> int:
        """Number of full iterations."""
        return self.extent // self.step

    @property
    def tail(self) -> int:
        """Number of elements left after the full iterations: less than a step."""
        return self.extent % self.step

    @property
    def is_innermost(self) -> bool:
        """True if the body has no loops."""
        return all(isinstance(node, int) for node in self.body)

    @property
    def only_loop(self) -> "Loop | None":
        """The loop that is the entire body, or None."""
        if len(self.body) != 1 or isinstance(self.body[0], int):
            return None
        return self.body[0]

    @property
    def notes(self) -> tuple[str, ...]:
        """The annotations, as written in the text."""
        flags = {"unroll": self.unroll, "vectorise": self.vectorise, "thread": self.parallel}
        return (
            *(flag for flag, is_set in flags.items() if is_set),
            *(f"pack {tensor}" for tensor in self.packs),
        )


@dataclass(frozen=True, slots=True)
class Tree:
    """A program and its execution order."""

    program: Program
    roots: tuple[Loop | int, ...]

    def loops(self) -> tuple[tuple[Path, Loop], ...]:
        """Return every loop with its path, from top to bottom in the text."""
        return tuple(_loops(self.roots, ()))

    def at(self, path: Path) -> Loop | int:
        """Return the node at `path`."""
        nodes = self.roots
        node: Loop | int = nodes[path[0]]
        for index in path[1:]:
            assert isinstance(node, Loop)
            node = node.body[index]
        return node

    def loop(self, path: Path) -> Loop:
        """Return the loop at `path`."""
        node = self.at(path)
        assert isinstance(node, Loop)
        return node

    def around(self, path: Path) -> tuple[Loop, ...]:
        """Return the loops around the node at `path`, the outermost first."""
        return tuple(self.loop(path[:depth]) for depth in range(1, len(path)))

    def siblings(self, path: Path) -> tuple[Loop | int, ...]:
        """Return the nodes of the same body, including the node at `path`."""
        return self.roots if len(path) == 1 else self.loop(path[:-1]).body

    def replace_nodes(self, path: Path, *nodes: Loop | int, count: int = 1) -> "Tree":
        """Return the tree with `nodes` in place of `count` nodes from `path` on."""
        return Tree(self.program, _replace(self.roots, path, nodes, count))

    def settle(self) -> "Tree":
        """Return the tree with each loop's extent recomputed from the loops around it."""
        return Tree(self.program, settle_nodes(self.roots, self.program.dims))

    def __str__(self) -> str:
        return "\n".join(_tree_lines(self, self.roots, {}, 0, count()))


def initial_tree(program: Program) -> Tree:
    """Return the initial tree of a program: a nest for each statement, in order.

    Loops are in the order of the result's axes, then of the reduced dimensions.
    """
    roots: list[Loop | int] = []
    for number, statement in enumerate(program.statements):
        node: Loop | int = number
        for dim in reversed(statement.dims):
            for inner in range(program.splits - 1, -1, -1):
                extent = 1 if inner else program.dims[dim]
                node = Loop(dim, extent, 1, (node,), parallel=program.splits > 1 and inner == 0)
        roots.append(node)
    tree = Tree(program, tuple(roots))
    return tree if program.splits == 1 else _without_unlawful_threads(tree)


def settle_nodes(
    nodes: tuple[Loop | int, ...], covered: Mapping[str, int]
) -> tuple[Loop | int, ...]:
    """Return `nodes` with extents recomputed from the elements `covered` by the outer loops."""
    return tuple(
        node
        if isinstance(node, int)
        else replace(
            node,
            extent=covered[node.dim],
            body=settle_nodes(node.body, {**covered, node.dim: node.step}),
        )
        for node in nodes
    )


def list_leaves(node: Loop | int) -> tuple[int, ...]:
    """Return the numbers of the statements in a node, in order."""
    if isinstance(node, int):
        return (node,)
    return tuple(leaf for child in node.body for leaf in list_leaves(child))


def _without_unlawful_threads(tree: Tree) -> Tree:
    """Keep threads only on loops without reductions and outer threads, as at a reset."""
    for path, loop in tree.loops():
        reduced = {d for leaf in list_leaves(loop) for d in tree.program.statements[leaf].over}
        inside = any(outer.parallel for outer in tree.around(path))
        if loop.parallel and (loop.dim in reduced or inside):
            tree = tree.replace_nodes(path, replace(tree.loop(path), parallel=False))
    return tree


def _loops(nodes: tuple[Loop | int, ...], above: Path) -> Iterator[tuple[Path, Loop]]:
    for index, node in enumerate(nodes):
        if isinstance(node, Loop):
            path = (*above, index)
            yield path, node
            yield from _loops(node.body, path)


def _replace(
    nodes: tuple[Loop | int, ...], path: Path, new: tuple[Loop | int, ...], count: int
) -> tuple[Loop | int, ...]:
    at = path[0]
    if len(path) == 1:
        return (*nodes[:at], *new, *nodes[at + count :])
    node = nodes[at]
    assert isinstance(node, Loop)
    changed = replace(node, body=_replace(node.body, path[1:], new, count))
    return (*nodes[:at], changed, *nodes[at + 1 :])


def _tree_lines(
    tree: Tree,
    nodes: tuple[Loop | int, ...],
    levels: Mapping[str, int],
    depth: int,
    number: Iterator[int],
) -> Iterator[str]:
    """Yield the lines for `nodes` as loop_tool writes them, with primes for levels, and tails."""
    for node in nodes:
        indent = " " * depth
        if isinstance(node, int):
            yield f"{indent}{tree.program.statements[node]}"
            continue
        level = levels.get(node.dim, 0)
        tail = f" r {node.tail}" if node.tail else ""
        notes = "".join(f" [{note}]" for note in node.notes)
        name = node.dim + "'" * level
        yield f"{indent}for {name} in {node.size}{tail} : L{next(number)}{notes}"
        yield from _tree_lines(tree, node.body, {**levels, node.dim: level + 1}, depth + 1, number)
