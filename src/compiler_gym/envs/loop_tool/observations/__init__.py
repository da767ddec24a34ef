# SPDX-License-Identifier: MIT
"""The observations: a row for each observation of a session.

``flops``, ``loop_tree`` and ``action_state`` are those of CompilerGym 0.2.5. ``compute`` holds
what the rows name; ``vectors``, ``graph`` and ``static_cost`` are made of the tree alone, and
what is measured is measured by ``machine``. All run in a worker, so a row names them by text.
"""

from typing import Any

from compiler_gym.envs.loop_tool.observations.graph import ARRAYS
from compiler_gym.envs.loop_tool.observations.vectors import BINS, COLUMNS, WIDTH
from compiler_gym.envs.loop_tool.state.tree import MOST_LOOPS
from compiler_gym.session import BoxSpec, DictSpec, OpaqueSpec, ScalarSpec, TextSpec
from compiler_gym.tables import Observation, Table

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
            "GFLOPS of the nest as it is now: compiled, checked against numpy and timed.",
        ),
        Observation(
            name="loop_tree",
            space=TextSpec(),
            description="The loop tree as text: size and tail (r) of each loop, what is noted on "
            "it, and the statements.",
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
            description="GFLOPS that a model without a clock gives the tree: the same on every "
            "machine, for tests and noisy machines.",
            compute="flops_deterministic",
            default=0,
        ),
        _make_timed("flops_at_reset", "GFLOPS of the nest before any action.", default=0),
        Observation(
            name="flops_deterministic_at_reset",
            space=_GFLOPS,
            description="What flops_deterministic gives the tree before any action.",
            compute="flops_deterministic_at_reset",
            default=0,
        ),
        Observation(
            name="loop_vectors",
            space=BoxSpec(0, _LARGEST_INTEGER, (MOST_LOOPS, WIDTH), "int64"),
            description=f"A row for each loop from top to bottom: {', '.join(COLUMNS)}, and a "
            f"histogram of {BINS} bins of how far a step moves in each tensor, by powers of two.",
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
            description="The program in lines of the language.",
            compute="program_text",
            default="",
        ),
        Observation(
            name="tree_hash",
            space=TextSpec(0, 40),
            description="The SHA-1 of the tree, the cursor and what can be undone, 40 digits.",
            compute="tree_hash",
            default="",
        ),
        _make_timed(
            "flops_gain",
            "GFLOPS now less those of the nest when this, or peak_gain, was last asked for (at "
            "first: the one at reset), both timed in turns.",
            ScalarSpec(None, None, "float"),
        ),
        _make_timed(
            "peak_gain",
            "What flops_gain says, as a share of the GFLOPS that this machine reaches (`peak`).",
            ScalarSpec(None, None, "float"),
        ),
        _make_timed(
            "peak", "The measured GFLOPS that this machine reaches at most with one thread."
        ),
        _make_timed(
            "timing",
            "What the last timing says: `gflops`, `low` and `high` (95 % interval), `seconds` of "
            "a run, `runs`, `noise` (half the interval as a share), `threads`, `pinned`.",
            OpaqueSpec("json"),
            "{}",
        ),
        _make_timed(
            "roofline",
            "`gflops`, `peak`, `bandwidth` (GB/s), `intensity` (operations a byte of inputs and "
            "outputs) and `roof`, the GFLOPS that are possible at this intensity.",
            OpaqueSpec("json"),
            "{}",
        ),
        _make_timed(
            "roofline_picture",
            "The roofline in characters: a star for the nest, under what memory and arithmetic "
            "allow.",
            TextSpec(),
            "",
        ),
        Observation(
            name="tree_picture",
            space=TextSpec(),
            description="The loop tree in characters: branches, sizes and tails, what is noted, "
            "and an arrow at the cursor.",
            compute="tree_picture",
            default="",
        ),
        Observation(
            name="llvm_ir",
            space=TextSpec(),
            description="The LLVM IR that the nest becomes, before LLVM optimises it.",
            compute="llvm_ir",
            platform_dependent=True,
            default="",
        ),
        Observation(
            name="ptx",
            space=TextSpec(),
            description="The assembly of NVIDIA's that the tree becomes for a card (sm_70), one "
            "kernel for each nest; no card is needed.",
            compute="ptx",
            default="",
        ),
    )
)
"""Every observation, in the order in which they are listed."""

TIMED = tuple(row.name for row in TABLE.observations if not row.deterministic)
"""The observations for which something is run."""
