# SPDX-License-Identifier: MIT
"""The observations: one row per observation of a session.

``flops``, ``loop_tree`` and ``action_state`` are those of CompilerGym 0.2.5. ``compute`` defines
the functions that the rows name; ``vectors``, ``graph`` and ``static_cost`` depend on the tree
alone, and the toolchain measures the rest. Everything runs in a worker, so rows use names.
"""

from typing import Any

from compiler_gym.session import BoxSpec, DictSpec, OpaqueSpec, ScalarSpec, TextSpec
from compiler_gym.tables import Observation, Table
from compiler_gym_loop_tool.observations.graph import ARRAYS
from compiler_gym_loop_tool.observations.vectors import BINS, COLUMNS, WIDTH
from compiler_gym_loop_tool.state.tree import MOST_LOOPS

__all__ = ["TABLE", "TIMED"]

_LARGEST_INTEGER = 2**63 - 2
_GFLOPS = ScalarSpec(0, None, "float")


def _make_timed(name: str, description: str, space: Any = _GFLOPS, default: Any = 0) -> Observation:
    return Observation(
        name=name,
        space=space,
        description=description,
        compute=name,
        deterministic=False,
        platform_dependent=True,
        default=default,
    )


_COLUMN = BoxSpec(-(2**63) + 1, _LARGEST_INTEGER, (-1,), "int64")

TABLE = Table(
    (
        _make_timed(
            "flops",
            "Measured GFLOPS of the current nest: compiled, checked against NumPy and timed.",
        ),
        Observation(
            name="loop_tree",
            space=TextSpec(),
            description="The loop tree as text: size and tail (r) of each loop, its annotations, "
            "and the statements.",
            compute="loop_tree",
            default="",
        ),
        Observation(
            name="action_state",
            space=BoxSpec(0, 2**36, (3,), "int64"),
            description="The number of the loop at the cursor, its size and its tail.",
            compute="action_state",
            default=[0, 0, 0],
        ),
        Observation(
            name="flops_deterministic",
            space=_GFLOPS,
            description="GFLOPS of the tree according to a static model: the same on every "
            "machine, for tests and noisy machines.",
            compute="flops_deterministic",
            default=0,
        ),
        _make_timed("flops_at_reset", "GFLOPS of the nest before any action.", default=0),
        Observation(
            name="flops_deterministic_at_reset",
            space=_GFLOPS,
            description="The flops_deterministic of the tree before any action.",
            compute="flops_deterministic_at_reset",
            default=0,
        ),
        Observation(
            name="loop_vectors",
            space=BoxSpec(0, _LARGEST_INTEGER, (MOST_LOOPS, WIDTH), "int64"),
            description=f"One row per loop from top to bottom: {', '.join(COLUMNS)}, and a "
            f"histogram with {BINS} bins of a step's strides in the tensors, by powers of two.",
            compute="loop_vectors",
            default=bytes(8 * MOST_LOOPS * WIDTH),
        ),
        Observation(
            name="loop_graph_json",
            space=OpaqueSpec("json"),
            description="The tree in node-link form: nodes of type 0 (statement), 1 (tensor), 2 "
            "(loop); links of flow 0 (control) and 1 (data), with position and stride.",
            compute="loop_graph_json",
            default='{"directed":true,"multigraph":true,"graph":{},"nodes":[],"links":[]}',
        ),
        Observation(
            name="loop_graph_arrays",
            space=DictSpec(dict.fromkeys(ARRAYS, _COLUMN)),
            description="The graph of loop_graph_json as arrays of int64: `node_kind`, "
            "`node_number`, `node_size` (iterations, operations or elements), `node_tail`, "
            "`node_flags`, `edge_source`, `edge_target`, `edge_kind`, `edge_position`, "
            "`edge_stride`.",
            compute="loop_graph_arrays",
            default=dict.fromkeys(ARRAYS, b""),
        ),
        Observation(
            name="program_text",
            space=TextSpec(),
            description="The program as text in the language.",
            compute="program_text",
            default="",
        ),
        Observation(
            name="tree_hash",
            space=TextSpec(0, 40),
            description="SHA-1 hash of the tree, the cursor and the undo history, 40 hex digits.",
            compute="tree_hash",
            default="",
        ),
        _make_timed(
            "flops_gain",
            "GFLOPS now minus GFLOPS of the nest at the last flops_gain or peak_gain (at first: "
            "at reset), from alternating measurements of both.",
            ScalarSpec(None, None, "float"),
        ),
        _make_timed(
            "peak_gain",
            "The flops_gain as a share of this machine's peak GFLOPS (`peak`).",
            ScalarSpec(None, None, "float"),
        ),
        _make_timed("peak", "Measured peak GFLOPS of one thread of this machine."),
        _make_timed(
            "timing",
            "The last timing: `gflops`, `low` and `high` (95 % interval), `seconds` per run, "
            "`runs`, `noise` (half the interval as a share), `threads`, `pinned`.",
            OpaqueSpec("json"),
            "{}",
        ),
        _make_timed(
            "roofline",
            "`gflops`, `peak`, `bandwidth` (GB/s), `intensity` (operations per byte of inputs and "
            "outputs) and `roof`, the highest possible GFLOPS at this intensity.",
            OpaqueSpec("json"),
            "{}",
        ),
        _make_timed(
            "roofline_picture",
            "The roofline as text: a star for the nest, below the limits of memory and arithmetic.",
            TextSpec(),
            "",
        ),
        Observation(
            name="tree_picture",
            space=TextSpec(),
            description="The loop tree as a text picture: branches, sizes and tails, annotations, "
            "and an arrow at the cursor.",
            compute="tree_picture",
            default="",
        ),
        Observation(
            name="llvm_ir",
            space=TextSpec(),
            description="The LLVM IR of the nest, before LLVM optimises it.",
            compute="llvm_ir",
            platform_dependent=True,
            default="",
        ),
        Observation(
            name="ptx",
            space=TextSpec(),
            description="The NVIDIA assembly (PTX, sm_70) of the tree, one kernel per nest; "
            "works without a GPU.",
            compute="ptx",
            default="",
        ),
    )
)
"""Every observation, in listing order."""

TIMED = tuple(row.name for row in TABLE.observations if not row.deterministic)
"""The observations that run the nest or another measurement."""
