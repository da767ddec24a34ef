# SPDX-License-Identifier: MIT
"""The loop graph in the formats of libraries, derived by the client from the engine's columns."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import GraphInstance

from compiler_gym.core import DerivedObservation
from compiler_gym.lazy import pause_collection
from compiler_gym.spaces import Box, NetworkxGraph, networkx_graph
from compiler_gym_loop_tool.observations.graph import EDGE_COLUMNS, NODE_COLUMNS

__all__ = ["list_derived_observations"]

_LARGEST = 2**63 - 2


def list_derived_observations() -> tuple[DerivedObservation, ...]:
    """Return the derived observations of loop nests."""
    return (
        DerivedObservation(
            "loop_graph",
            "loop_graph_json",
            _to_networkx,
            lambda: NetworkxGraph("loop_graph"),
            "The tree as a networkx.MultiDiGraph with the attributes of loop_graph_json; needs "
            "the package networkx.",
        ),
        DerivedObservation(
            "loop_graph_instance",
            "loop_graph_arrays",
            _to_graph_instance,
            _graph_space,
            f"The tree as Gymnasium's GraphInstance: nodes int64[n, {len(NODE_COLUMNS)}] "
            f"({', '.join(NODE_COLUMNS)}), edges int64[m, {len(EDGE_COLUMNS)}] "
            f"({', '.join(EDGE_COLUMNS)}), edge_links int64[m, 2].",
        ),
    )


def _to_networkx(graph: dict[str, Any]) -> Any:
    with pause_collection():
        return networkx_graph(graph, "loop_graph", "loop_graph_arrays or loop_graph_json")


def _to_graph_instance(columns: dict[str, Any]) -> GraphInstance:
    def table(prefix: str, names: tuple[str, ...]) -> Any:
        return np.stack([columns[f"{prefix}_{name}"] for name in names], axis=1)

    return GraphInstance(
        table("node", NODE_COLUMNS),
        table("edge", EDGE_COLUMNS),
        table("edge", ("source", "target")),
    )


def _graph_space() -> gymnasium.Space[Any]:
    def box(columns: tuple[str, ...], name: str) -> Box:
        low = np.zeros(len(columns), dtype=np.int64)
        return Box(low, np.full(len(columns), _LARGEST), name, dtype=np.int64)

    return gymnasium.spaces.Graph(box(NODE_COLUMNS, "node"), box(EDGE_COLUMNS, "edge"))
