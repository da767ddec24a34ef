# SPDX-License-Identifier: MIT
"""The functions that compute the observations of a session, called in a worker."""

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from compiler_gym_loop_tool.observations import TABLE
from compiler_gym_loop_tool.observations.graph import graph_arrays, graph_json
from compiler_gym_loop_tool.observations.static_cost import estimate_gflops
from compiler_gym_loop_tool.observations.vectors import loop_vectors
from compiler_gym_loop_tool.pictures import roofline_text, tree_text
from compiler_gym_loop_tool.state.cursor import Cursor

if TYPE_CHECKING:
    from compiler_gym_loop_tool.toolchain.measuring import Bench

__all__ = ["COMPUTE", "ENGINE", "Computation"]

Computation = Callable[[Cursor, "Bench"], Any]
"""Function that computes the plain value of an observation from a cursor and its bench."""


def _action_state(cursor: Cursor) -> list[int]:
    loop = cursor.tree.loop(cursor.path)
    return [cursor.at, loop.size, loop.tail]


def _tree_hash(cursor: Cursor) -> str:
    state = (cursor.tree.roots, cursor.at, cursor.resizes, [(t.roots, at) for t, at in cursor.past])
    program = cursor.tree.program
    return hashlib.sha1(repr((program.text, state)).encode()).hexdigest()


def _timing(cursor: Cursor, bench: "Bench") -> str:
    return json.dumps(bench.timing(cursor.tree).facts())


def _roofline(cursor: Cursor, bench: "Bench") -> str:
    return json.dumps(bench.roofline(cursor.tree))


ENGINE: Mapping[str, Computation] = {
    "flops": lambda cursor, bench: bench.measure(cursor.tree).gflops,
    "loop_tree": lambda cursor, bench: str(cursor.tree),
    "action_state": lambda cursor, bench: _action_state(cursor),
    "flops_deterministic": lambda cursor, bench: estimate_gflops(cursor.tree),
    "flops_at_reset": lambda cursor, bench: bench.measure(bench.start).gflops,
    "flops_deterministic_at_reset": lambda cursor, bench: estimate_gflops(bench.start),
    "loop_vectors": lambda cursor, bench: loop_vectors(cursor),
    "loop_graph_json": lambda cursor, bench: graph_json(cursor),
    "loop_graph_arrays": lambda cursor, bench: graph_arrays(cursor),
    "program_text": lambda cursor, bench: cursor.tree.program.text,
    "tree_hash": lambda cursor, bench: _tree_hash(cursor),
    "flops_gain": lambda cursor, bench: bench.gain(cursor.tree),
    "peak_gain": lambda cursor, bench: bench.gain(cursor.tree) / bench.peak(),
    "peak": lambda cursor, bench: bench.peak(),
    "timing": _timing,
    "roofline": _roofline,
    "roofline_picture": lambda cursor, bench: roofline_text(bench.roofline(cursor.tree)),
    "tree_picture": lambda cursor, bench: tree_text(str(cursor.tree), cursor.at),
    "ptx": lambda cursor, bench: bench.ptx(cursor.tree),
    "llvm_ir": lambda cursor, bench: bench.llvm_ir(cursor.tree),
}
"""The functions that the rows of the table name."""

COMPUTE = TABLE.bind(ENGINE)
"""The function of each observation, by name."""
