# SPDX-License-Identifier: MIT
"""Each loop has a row, and its strides are counted by powers of two."""

import numpy as np

from compiler_gym_loop_tool.actions import changes
from compiler_gym_loop_tool.observations.vectors import COLUMNS, WIDTH, loop_vectors
from compiler_gym_loop_tool.state.cursor import Cursor
from compiler_gym_loop_tool.state.descriptions import describe
from compiler_gym_loop_tool.state.reading import parse_program
from compiler_gym_loop_tool.state.tree import MOST_LOOPS, initial_tree


def test_the_rows_say_what_the_loops_are() -> None:
    tree = initial_tree(parse_program(describe("matmul", "m=10,n=8,k=4")))
    tree = changes.split(tree, (0,), 4)
    cursor = Cursor(tree, at=2)
    rows = np.frombuffer(loop_vectors(cursor), np.int64).reshape(MOST_LOOPS, WIDTH)
    assert not rows[4:].any()
    table = [dict(zip(COLUMNS, row, strict=False)) for row in rows[:4].tolist()]
    assert [row["size"] for row in table] == [2, 4, 8, 4]
    assert [row["tail"] for row in table] == [2, 0, 0, 0]
    assert [row["is_cursor"] for row in table] == [0, 0, 1, 0]
    assert [row["is_reduced"] for row in table] == [0, 0, 0, 1]
    assert [row["tensors"] for row in table] == [2, 2, 2, 2]
    # A step of the outer m is 4 rows: 16 elements of A[10, 4], 32 of C[10, 8], none of B.
    assert np.flatnonzero(rows[0, len(COLUMNS) :]).tolist() == [0, 5, 6]
    # A step of k is 1 element of A, a row of 8 of B, none of C.
    assert np.flatnonzero(rows[3, len(COLUMNS) :]).tolist() == [0, 1, 4]
