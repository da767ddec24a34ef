# SPDX-License-Identifier: MIT
"""A static model of GFLOPS: the speed of a loop tree on a small hypothetical machine.

The machine has 4 cores at 3 GHz, each with 16 vector registers of 8 floats and caches of 32 KiB
and 1 MiB. The result is the same on every machine, so that tests and noisy machines have a number
that rises when real nests get faster. Its unit is GFLOPS, but no real machine is meant.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from compiler_gym_loop_tool.actions.changes import packable
from compiler_gym_loop_tool.state.program import Access, Statement, operators
from compiler_gym_loop_tool.state.tree import Loop, Path, Tree, list_leaves

__all__ = ["CORES", "estimate_cycles", "estimate_gflops", "forks"]

_GHZ = 3.0
_LANES = 8
_ISSUE = 2
"""Number of operations, or loads, that start per cycle."""
_LATENCY = 4
"""Cycles between two additions to the same sum."""
_REGISTERS = 16
_LINE = 16
"""Floats per cache line."""
_CACHES = ((8192, 3.0), (262144, 12.0))
"""Capacity of each cache in floats, and the cost of a line that misses it in cycles."""
CORES = 4
_FORK = 3000.0
"""Cycles to hand work to threads."""
_SLOW: Mapping[str, float] = {"div": 5.0, "sqrt": 6.0, "exp": 12.0}


def estimate_gflops(tree: Tree) -> float:
    """Return the GFLOPS of `tree` on the hypothetical machine."""
    return tree.program.flops * _GHZ / estimate_cycles(tree)


def estimate_cycles(tree: Tree) -> float:
    """Return the cycles of one run of `tree` on the hypothetical machine."""
    total = sum(_nest(tree, leaf, path) for leaf, path in _leaves(tree))
    return total + sum(_copying(tree, path, loop) for path, loop in tree.loops() if loop.packs)


def forks(tree: Tree) -> float:
    """Return the number of times that one run of `tree` hands work to threads.

    Each costs a real machine some microseconds, far more if other processes use its cores.
    """
    parallel_loops = [
        (tree.around(path), loop) for path, loop in tree.loops() if loop.parallel and loop.size > 1
    ]
    return sum(
        prod(outer.extent / outer.step for outer in around)
        for around, _ in parallel_loops
        if not any(outer.parallel and outer.size > 1 for outer in around)
    )


def _leaves(tree: Tree) -> list[tuple[int, Path]]:
    leaves: list[tuple[int, Path]] = []

    def visit(nodes: tuple[Loop | int, ...], above: Path) -> None:
        for index, node in enumerate(nodes):
            path = (*above, index)
            if isinstance(node, int):
                leaves.append((node, path))
            else:
                visit(node.body, path)

    visit(tree.roots, ())
    return leaves


@dataclass(frozen=True, slots=True)
class _Nest:
    """A statement and the loops around it, the outermost first."""

    statement: Statement
    loops: tuple[Loop, ...]
    points: int
    packed: frozenset[str]

    def runs(self, depth: int) -> float:
        """Return the runs of the loop body at `depth`; a partial iteration counts as a share."""
        return prod(loop.extent / loop.step for loop in self.loops[: depth + 1])

    def tile(self) -> int:
        """Return the depth below which all loops are unrolled or vectorised."""
        depth = len(self.loops)
        while depth and (self.loops[depth - 1].unroll or self.loops[depth - 1].vectorise):
            depth -= 1
        return depth


def _nest(tree: Tree, leaf: int, path: Path) -> float:
    program, statement = tree.program, tree.program.statements[leaf]
    loops = tree.around(path)
    packed = frozenset(tensor for loop in loops for tensor in loop.packs)
    nest = _Nest(statement, loops, program.points(statement), packed)
    inner = loops[-1]
    lanes = min(_LANES, inner.extent) if inner.vectorise else 1
    tile = nest.tile()
    # Unrolled iterations are independent, as far as registers allow.
    written_out = {
        loop.dim: prod(other.size for other in loops[tile:] if other.dim == loop.dim)
        for loop in loops[tile:]
    }
    fits = _in_registers(nest, written_out, lanes)
    work = _arithmetic(nest, written_out, lanes) + _moves(nest, tile, written_out, lanes, fits)
    work += sum(map(nest.runs, range(tile)))
    work += _misses(tree, nest)
    threads = max(
        (min(CORES, loop.extent / loop.step) for loop in loops if loop.parallel), default=1
    )
    first = next((depth for depth, loop in enumerate(loops) if loop.parallel), None)
    forks = 0.0 if first is None else _FORK * (nest.runs(first - 1) if first else 1.0)
    return work / threads + forks


def _in_registers(nest: _Nest, written_out: Mapping[str, int], lanes: int) -> bool:
    """Return True if the results of unrolled iterations stay in registers."""
    out = prod(count for dim, count in written_out.items() if dim in nest.statement.out.dims)
    return out / lanes <= _REGISTERS - 2


def _arithmetic(nest: _Nest, written_out: Mapping[str, int], lanes: int) -> float:
    slow = sum(_SLOW.get(op, 1.0) for op in operators(nest.statement.value))
    if not nest.statement.reduction:
        return nest.points * max(slow, 0.5) / (lanes * _ISSUE)
    out = prod(count for dim, count in written_out.items() if dim in nest.statement.out.dims)
    chains = max(1.0, out / lanes if lanes > 1 else out)
    # A multiply-add is one instruction; an addition waits for the one before.
    add = max(1.0 / _ISSUE, _LATENCY / chains)
    return nest.points / lanes * (add + max(0.0, slow - 1) / _ISSUE)


def _moves(nest: _Nest, tile: int, written_out: Mapping[str, int], lanes: int, fits: bool) -> float:
    """Return the cycles of loads and stores; values in registers are not loaded again."""
    inner = nest.loops[-1]
    cycles = 0.0
    for access in nest.statement.reads:
        count = nest.points / lanes
        stride = _stride(nest, access, inner.dim)
        if inner.vectorise and stride > 1:
            count *= lanes  # one at a time
        for dim, size in written_out.items():
            if access.stride(dim) == 0:
                count /= size / (lanes if inner.vectorise and dim == inner.dim else 1)
        cycles += count / _ISSUE
    out = nest.statement.out
    stores = nest.points / lanes
    if inner.vectorise and _stride(nest, out, inner.dim) > 1:
        stores *= lanes
    if nest.statement.reduction:
        stores *= 2
        loops_in_registers = [loop for loop in nest.loops[tile:] if loop.dim in nest.statement.over]
        if fits or tile == len(nest.loops):
            depth = tile
            while depth and nest.loops[depth - 1].dim in nest.statement.over:
                depth -= 1
                loops_in_registers.append(nest.loops[depth])
        stores /= max(1.0, prod(loop.extent / loop.step for loop in loops_in_registers))
    return cycles + stores


def _stride(nest: _Nest, access: Access, dim: str) -> int:
    if access.tensor in nest.packed and access.stride(dim):
        return 1
    return access.stride(dim)


def _misses(tree: Tree, nest: _Nest) -> float:
    """Return the cycles of cache misses: a cache holds the outermost loop whose data fits."""
    cycles = 0.0
    covered = dict(tree.program.dims)
    ranges: list[dict[str, int]] = [dict(covered)]
    for loop in nest.loops:
        covered[loop.dim] = loop.step
        ranges.append(dict(covered))
    accesses = (*nest.statement.reads, nest.statement.out)
    for size, price in _CACHES:
        depth = 0
        while depth < len(nest.loops) and _floats(nest, accesses, ranges[depth]) > size:
            depth += 1
        runs = nest.runs(depth - 1) if depth else 1.0
        for access in accesses:
            loads = runs
            # Data that the enclosing loop does not move stays in the cache.
            if depth and access.stride(nest.loops[depth - 1].dim) == 0:
                loads /= nest.loops[depth - 1].extent / nest.loops[depth - 1].step
            cycles += price * loads * _cache_lines(nest, access, ranges[depth])
    return cycles


def _floats(nest: _Nest, accesses: tuple[Access, ...], covered: Mapping[str, int]) -> float:
    return sum(_LINE * _cache_lines(nest, access, covered) for access in accesses)


def _cache_lines(nest: _Nest, access: Access, covered: Mapping[str, int]) -> float:
    """Return the number of cache lines that `access` touches over the ranges `covered`."""
    elements = prod(
        1 + sum(factor * (covered[dim] - 1) for dim, factor in axis) for axis in access.index
    )
    row = (
        1 + sum(factor * (covered[dim] - 1) for dim, factor in access.index[-1])
        if access.index
        else 1
    )
    if access.tensor in nest.packed:
        return max(1.0, elements / _LINE)
    return max(1.0, elements / min(row, _LINE))


def _copying(tree: Tree, path: Path, loop: Loop) -> float:
    runs = prod(outer.extent / outer.step for outer in (*tree.around(path), loop))
    covered = dict(tree.program.dims)
    for outer in (*tree.around(path), loop):
        covered[outer.dim] = outer.step
    return sum(
        2.0 * runs * prod(covered[dim] for dim in access.dims)
        for access in packable(tree, path)
        if access.tensor in loop.packs and list_leaves(loop)
    )
