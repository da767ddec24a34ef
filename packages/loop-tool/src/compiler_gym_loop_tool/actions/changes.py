# SPDX-License-Identifier: MIT
"""The transformations of a loop tree: each function returns a new tree, or the same one.

The identical tree (``is``) means that the transformation does not apply. No transformation changes
the result of a program, except that sums may be computed in a different order.
"""

from dataclasses import replace
from math import prod

from compiler_gym_loop_tool.state.program import Access
from compiler_gym_loop_tool.state.tree import MOST_LOOPS, Loop, Path, Tree, list_leaves

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
"""The largest number of iterations of a loop that can be unrolled."""
MOST_VECTOR = 256
"""The largest number of iterations of a loop that can be vectorised; split larger loops first."""
MOST_PACKED = 2**22
"""The largest number of elements in a packed part: 16 MiB."""


def split(tree: Tree, path: Path, factor: int) -> Tree:
    """Give each iteration of the loop at `path` an inner loop of `factor` iterations.

    Nothing changes if the loop has no more than `factor` iterations. Threads stay on the outer
    loop; vectors, unrolling and packed operands move to the inner loop, with the body.
    """
    loop = tree.loop(path)
    if factor < 2 or loop.size <= factor or len(tree.loops()) >= MOST_LOOPS:
        return tree
    inner = replace(loop, extent=loop.step * factor, parallel=False)
    outer = Loop(loop.dim, loop.extent, loop.step * factor, (inner,), parallel=loop.parallel)
    return tree.replace_nodes(path, outer)


def divide(tree: Tree, path: Path) -> Tree:
    """Give each iteration of the loop at `path` an inner loop of one iteration, to be resized."""
    loop = tree.loop(path)
    if len(tree.loops()) >= MOST_LOOPS:
        return tree
    inner = replace(loop, extent=loop.step, parallel=False)
    return tree.replace_nodes(
        path, Loop(loop.dim, loop.extent, loop.step, (inner,), parallel=loop.parallel)
    )


def merge(tree: Tree, path: Path) -> Tree:
    """Merge the loop at `path` with the only loop in it, if both are over the same dimension."""
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
    """Move the loop after the one at `path` into it, if both have the same steps.

    Nothing changes if an element would be read before it is computed.
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
    """Swap the loop at `path` with the only loop in it, if that is over another dimension."""
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
    """Swap the loop at `path` with the loop around it, if that is over another dimension."""
    return swap_down(tree, path[:-1]) if len(path) > 1 else tree


def toggle_unroll(tree: Tree, path: Path) -> Tree:
    """Unroll the loop at `path`, or stop doing so."""
    loop = tree.loop(path)
    if not loop.unroll and loop.size > MOST_UNROLLED:
        return tree
    return tree.replace_nodes(path, replace(loop, unroll=not loop.unroll))


def toggle_vectorise(tree: Tree, path: Path) -> Tree:
    """Vectorise the innermost loop at `path`, or stop doing so."""
    loop = tree.loop(path)
    if not loop.vectorise and (not loop.is_innermost or loop.size > MOST_VECTOR):
        return tree
    return tree.replace_nodes(path, replace(loop, vectorise=not loop.vectorise))


def toggle_parallel(tree: Tree, path: Path) -> Tree:
    """Run the iterations of the loop at `path` in threads, or stop doing so.

    Nothing changes for loops over a reduced dimension.
    """
    loop = tree.loop(path)
    statements = [tree.program.statements[leaf] for leaf in list_leaves(loop)]
    if not loop.parallel and any(loop.dim in statement.over for statement in statements):
        return tree
    return tree.replace_nodes(path, replace(loop, parallel=not loop.parallel))


def pack(tree: Tree, path: Path, operand: int) -> Tree:
    """Pack operand number `operand` before each run of the loop's body, or stop packing it.

    Operands are the inputs that the body reads, in order. An operand can be packed if each of
    its axes is one dimension, the loop contains loops, and the part has at most `MOST_PACKED`
    elements.
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
    """Return the inputs that the body of the loop at `path` reads, in order, without repeats."""
    accesses: dict[str, Access] = {}
    for leaf in list_leaves(tree.loop(path)):
        for access in tree.program.statements[leaf].reads:
            if tree.program.tensors[access.tensor].role == "input":
                accesses.setdefault(access.tensor, access)
    return tuple(accesses.values())


def count_packed_elements(tree: Tree, path: Path, access: Access) -> int:
    """Return the number of elements of `access` that the body at `path` reads."""
    return prod(_count_covered(tree, path)[dim] for dim in access.dims)


def resize(tree: Tree, path: Path, more: int) -> Tree:
    """Give the loop at `path` one iteration more (1) or less (-1), as CompilerGym 0.2.5 does.

    The iterations come from or go to the loop directly outside, if it is over the same dimension;
    a remainder stays there as its tail. A loop with a tail loses the tail first (-1), or absorbs
    it with the iteration. Nothing changes if one of the two would have no iterations.
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
    """Return True if every element is computed before it is read, and annotations make sense.

    Two statements may share a loop only over a dimension that indexes the result of the first:
    then an iteration of the loop computes the elements that the same iteration reads.
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
                if writer is not None and not _uses_own_iteration(tree, writer, access, loop.dim):
                    return False
        if not _is_packed_lawfully(tree, path, loop):
            return False
    return _is_in_order(tree, order)


def _uses_own_iteration(tree: Tree, writer: int, access: Access, dim: str) -> bool:
    out = tree.program.statements[writer].out
    axes = [at for at, axis in enumerate(out.index) if axis == ((dim, 1),)]
    return len(axes) == 1 and access.index[axes[0]] == ((dim, 1),)


def _is_in_order(tree: Tree, order: list[int]) -> bool:
    written: set[str] = set()
    for leaf in order:
        statement = tree.program.statements[leaf]
        for access in statement.reads:
            if tree.program.tensors[access.tensor].role != "input" and access.tensor not in written:
                return False
        written.add(statement.out.tensor)
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
        accesses = [
            reading
            for leaf in list_leaves(loop)
            for reading in tree.program.statements[leaf].reads
            if reading.tensor == tensor
        ]
        if any(reading != access for reading in accesses):
            return False
        if count_packed_elements(tree, path, access) > MOST_PACKED:
            return False
        if any(tensor in outer.packs for outer in tree.around(path)):
            return False
    return True


def _count_covered(tree: Tree, path: Path) -> dict[str, int]:
    """Return the number of elements per dimension in one iteration of the loop at `path`."""
    covered = dict(tree.program.dims)
    for loop in (*tree.around(path), tree.loop(path)):
        covered[loop.dim] = loop.step
    return covered


def _new_if_lawful(old: Tree, new: Tree) -> Tree:
    return new if is_lawful(new) else old
