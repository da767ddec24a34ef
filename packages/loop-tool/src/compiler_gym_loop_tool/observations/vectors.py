# SPDX-License-Identifier: MIT
"""One row of numbers per loop: its dimension and size, its annotations, and a stride histogram.

The histogram is that of LoopTune: one bin for each power of two of a step's stride in memory.
"""

from array import array

from compiler_gym_loop_tool.state.cursor import Cursor
from compiler_gym_loop_tool.state.tree import MOST_LOOPS, list_leaves

__all__ = ["BINS", "COLUMNS", "WIDTH", "loop_vectors"]

BINS = 32
COLUMNS = (
    "is_loop",
    "is_cursor",
    "depth",
    "dimension",
    "size",
    "tail",
    "step",
    "is_reduced",
    "is_innermost",
    "unroll",
    "vectorise",
    "parallel",
    "packs",
    "statements",
    "tensors",
    "operations",
)
"""The columns before the histogram; ``tensors`` counts the tensors that the loop moves through,
``operations`` the operations at one point of all statements in it."""
WIDTH = len(COLUMNS) + BINS


def loop_vectors(cursor: Cursor) -> bytes:
    """Return `MOST_LOOPS` rows of `WIDTH` int64, loops from top to bottom, then rows of zeros.

    Bin 0 of the histogram counts the accesses that a step of the loop does not move, bin i those
    that it moves by 2**(i-1) to 2**i - 1 elements; the last bin also counts all larger strides.
    """
    tree = cursor.tree
    statements = tree.program.statements
    numbers = {dim: at for at, dim in enumerate(tree.program.dims)}
    rows = array("q", bytes(8 * MOST_LOOPS * WIDTH))
    for at, (path, loop) in enumerate(tree.loops()):
        leaves = list_leaves(loop)
        contained = [statements[leaf] for leaf in leaves]
        accesses = [access for s in contained for access in (*s.reads, s.out)]
        row = (
            1,
            int(at == cursor.at),
            len(path) - 1,
            numbers[loop.dim],
            loop.size,
            loop.tail,
            loop.step,
            int(any(loop.dim in s.over for s in contained)),
            int(loop.is_innermost),
            int(loop.unroll),
            int(loop.vectorise),
            int(loop.parallel),
            len(loop.packs),
            len(leaves),
            len({access.tensor for access in accesses if access.stride(loop.dim)}),
            sum(s.operations for s in contained),
        )
        start = at * WIDTH
        rows[start : start + len(COLUMNS)] = array("q", row)
        for access in accesses:
            stride = access.stride(loop.dim) * loop.step
            rows[start + len(COLUMNS) + min(stride.bit_length(), BINS - 1)] += 1
    return rows.tobytes()
