# SPDX-License-Identifier: MIT
"""The transformations of a loop tree: each function returns another tree, or the same one.

The identical tree (``is``) means that the change does not apply there. No change alters
what a program computes, except that sums are taken in another order.
"""

from dataclasses import replace
from math import prod

from compiler_gym.envs.loop_tool.state.program import Access
from compiler_gym.envs.loop_tool.state.tree import MOST_LOOPS, Loop, Path, Tree, list_leaves

__all__ = [
    "MOST_PACKED",
    "MOST_UNROLLED",
    "count_packed_elements",
    "divide",
    "fuse",
    "is_lawful",
    "merge",
    "pack",
    "packable",
    "resize",
    "split",
    "swap_down",
    "swap_up",
    "toggle_parallel",
    "toggle_unroll",
    "toggle_vectorise",
]

MOST_UNROLLED = 64
"""Number of iterations that a loop may have that is unrolled."""
MOST_VECTOR = 256
"""Number of iterations that a loop may have that becomes vectors; loops with more are split
first."""
MOST_PACKED = 2**22
"""Number of numbers that a packed part may have: 16 MiB."""


def split(tree: Tree, path: Path, factor: int) -> Tree:
    """Give each iteration of the loop at `path` a loop of `factor` iterations inside.

    Nothing changes where the loop has no more than `factor` iterations. Threads stay outside;
    vectors, unrolling and packed operands go inside, where the body is.
    """
    loop = tree.loop(path)
    if factor < 2 or loop.size <= factor or len(tree.loops()) >= MOST_LOOPS:
        return tree
    inner = replace(loop, extent=loop.step * factor, parallel=False)
    outer = Loop(loop.dim, loop.extent, loop.step * factor, (inner,), parallel=loop.parallel)
    return tree.replace_nodes(path, outer)


def divide(tree: Tree, path: Path) -> Tree:
    """Give each iteration of the loop at `path` a loop of one iteration inside, to be resized."""
    loop = tree.loop(path)
    if len(tree.loops()) >= MOST_LOOPS:
        return tree
    inner = replace(loop, extent=loop.step, parallel=False)
    return tree.replace_nodes(
        path, Loop(loop.dim, loop.extent, loop.step, (inner,), parallel=loop.parallel)
    )


def merge(tree: Tree, path: Path) -> Tree:
    """Make one loop of the loop at `path` and the only loop inside it, over the same dimension."""
    loop = tree.loop(path)
    inner = loop.only_loop
    if inner is None or inner.dim != loop.dim:
        return tree
    packs = tuple(dict.fromkeys((*loop.packs, *inner.packs)))
    merged = replace(inner, extent=loop.extent, parallel=loop.parallel, packs=packs)
    if merged.size > MOST_UNROLLED:
        merged = replace(merged, unroll=False)
    if merged.size > MOST_VECTOR:
        merged = replace(merged, vectorise=False)
    return _new_if_lawful(tree, tree.replace_nodes(path, merged))


def fuse(tree: Tree, path: Path) -> Tree:
    """Run the loop after the one at `path` in it, where both go through the same steps.

    Nothing changes where an element would be read before it is there.
    """
    loop = tree.loop(path)
    siblings = tree.siblings(path)
    if path[-1] + 1 >= len(siblings):
        return tree
    other = siblings[path[-1] + 1]
    if not isinstance(other, Loop):
        return tree
    if (loop.dim, loop.extent, loop.step) != (other.dim, other.extent, other.step):
        return tree
    fused = replace(
        loop,
        body=(*loop.body, *other.body),
        unroll=loop.unroll and other.unroll,
        vectorise=loop.vectorise and other.vectorise,
        parallel=loop.parallel and other.parallel,
        packs=(),
    )
    return _new_if_lawful(tree, tree.replace_nodes(path, fused, count=2))


def swap_down(tree: Tree, path: Path) -> Tree:
    """Change the loop at `path` with the only loop inside it, over another dimension."""
    loop = tree.loop(path)
    inner = loop.only_loop
    if inner is None or inner.dim == loop.dim:
        return tree
    moved = replace(loop, body=inner.body, vectorise=loop.vectorise or inner.vectorise)
    if not moved.is_innermost or moved.size > MOST_VECTOR:
        moved = replace(moved, vectorise=False)
    outer = replace(inner, body=(moved,), vectorise=False)
    return _new_if_lawful(tree, tree.replace_nodes(path, outer))


def swap_up(tree: Tree, path: Path) -> Tree:
    """Change the loop at `path` with the loop outside of it, over another dimension."""
    return swap_down(tree, path[:-1]) if len(path) > 1 else tree


def toggle_unroll(tree: Tree, path: Path) -> Tree:
    """Write out the iterations of the loop at `path`, or no longer."""
    loop = tree.loop(path)
    if not loop.unroll and loop.size > MOST_UNROLLED:
        return tree
    return tree.replace_nodes(path, replace(loop, unroll=not loop.unroll))


def toggle_vectorise(tree: Tree, path: Path) -> Tree:
    """Run the iterations of the innermost loop at `path` as vectors, or no longer."""
    loop = tree.loop(path)
    if not loop.vectorise and (not loop.is_innermost or loop.size > MOST_VECTOR):
        return tree
    return tree.replace_nodes(path, replace(loop, vectorise=not loop.vectorise))


def toggle_parallel(tree: Tree, path: Path) -> Tree:
    """Spread the iterations of the loop at `path` over threads, or no longer.

    Loops over a reduced dimension stay as they are.
    """
    loop = tree.loop(path)
    statements = [tree.program.statements[leaf] for leaf in list_leaves(loop)]
    if not loop.parallel and any(loop.dim in statement.over for statement in statements):
        return tree
    return tree.replace_nodes(path, replace(loop, parallel=not loop.parallel))


def pack(tree: Tree, path: Path, operand: int) -> Tree:
    """Copy operand number `operand` of the body before each run of it, or no longer.

    Operands are the inputs that the body reads, in order. One can be packed where each of its
    axes is one dimension, loops are inside, and the part takes at most `MOST_PACKED` numbers.
    """
    loop = tree.loop(path)
    operands = packable(tree, path)
    if operand >= len(operands):
        return tree
    access = operands[operand]
    if access.tensor in loop.packs:
        packs = tuple(tensor for tensor in loop.packs if tensor != access.tensor)
        return tree.replace_nodes(path, replace(loop, packs=packs))
    packed = replace(loop, packs=(*loop.packs, access.tensor))
    return _new_if_lawful(tree, tree.replace_nodes(path, packed))


def packable(tree: Tree, path: Path) -> tuple[Access, ...]:
    """Return the inputs that the body of the loop at `path` reads, in order, each once."""
    found: dict[str, Access] = {}
    for leaf in list_leaves(tree.loop(path)):
        for access in tree.program.statements[leaf].reads:
            if tree.program.tensors[access.tensor].role == "input":
                found.setdefault(access.tensor, access)
    return tuple(found.values())


def count_packed_elements(tree: Tree, path: Path, access: Access) -> int:
    """Return how many numbers the part of `access` takes that the body at `path` reads."""
    return prod(_count_covered(tree, path)[dim] for dim in access.dims)


def resize(tree: Tree, path: Path, more: int) -> Tree:
    """Give the loop at `path` one iteration more (1) or less (-1), as CompilerGym 0.2.5 does.

    They come from the next loop outside over the same dimension, or go there; what is over stays
    there as its tail. A loop with a tail loses that first (-1), or takes it with the iteration.
    Nothing changes where no such loop is right outside, or one of both would not run.
    """
    loop = tree.loop(path)
    if len(path) < 2:
        return tree
    parent = tree.loop(path[:-1])
    if parent.dim != loop.dim or parent.only_loop is None:
        return tree
    size = loop.size + (0 if more < 0 and loop.tail else more)
    covered = size * loop.step
    if size < 1 or covered > parent.extent or covered == parent.step:
        return tree
    limited = replace(
        loop,
        extent=covered,
        unroll=loop.unroll and size <= MOST_UNROLLED,
        vectorise=loop.vectorise and size <= MOST_VECTOR,
    )
    changed = tree.replace_nodes(path[:-1], replace(parent, step=covered, body=(limited,)))
    return _new_if_lawful(tree, changed.settle())


def is_lawful(tree: Tree) -> bool:
    """Return whether each element is complete before it is read, and annotations have a meaning.

    Two statements may share a loop only over a dimension by which the first one's result is
    indexed: then an iteration of the loop makes what the same iteration reads.
    """
    statements = tree.program.statements
    order = [leaf for node in tree.roots for leaf in list_leaves(node)]
    if sorted(order) != list(range(len(statements))):
        return False
    for path, loop in tree.loops():
        leaves = list_leaves(loop)
        if any(loop.dim not in statements[leaf].dims for leaf in leaves):
            return False
        written = {statements[leaf].out.tensor: leaf for leaf in leaves}
        for reader in leaves:
            for access in statements[reader].reads:
                writer = written.get(access.tensor)
                if writer is not None and not _meets(tree, writer, access, loop.dim):
                    return False
        if not _is_packed_lawfully(tree, path, loop):
            return False
    return _is_in_order(tree, order)


def _meets(tree: Tree, writer: int, access: Access, dim: str) -> bool:
    out = tree.program.statements[writer].out
    place = [at for at, axis in enumerate(out.index) if axis == ((dim, 1),)]
    return len(place) == 1 and access.index[place[0]] == ((dim, 1),)


def _is_in_order(tree: Tree, order: list[int]) -> bool:
    made: set[str] = set()
    for leaf in order:
        statement = tree.program.statements[leaf]
        for access in statement.reads:
            if tree.program.tensors[access.tensor].role != "input" and access.tensor not in made:
                return False
        made.add(statement.out.tensor)
    return True


def _is_packed_lawfully(tree: Tree, path: Path, loop: Loop) -> bool:
    if not loop.packs:
        return True
    if loop.is_innermost:
        return False
    operands = {access.tensor: access for access in packable(tree, path)}
    for tensor in loop.packs:
        access = operands.get(tensor)
        if access is None or not access.is_plain:
            return False
        others = [
            other
            for leaf in list_leaves(loop)
            for other in tree.program.statements[leaf].reads
            if other.tensor == tensor
        ]
        if any(other != access for other in others):
            return False
        if count_packed_elements(tree, path, access) > MOST_PACKED:
            return False
        if any(tensor in outer.packs for outer in tree.around(path)):
            return False
    return True


def _count_covered(tree: Tree, path: Path) -> dict[str, int]:
    """Return how many elements of each dimension one iteration of the loop at `path` covers."""
    covered = dict(tree.program.dims)
    for loop in (*tree.around(path), tree.loop(path)):
        covered[loop.dim] = loop.step
    return covered


def _new_if_lawful(old: Tree, new: Tree) -> Tree:
    return new if is_lawful(new) else old
