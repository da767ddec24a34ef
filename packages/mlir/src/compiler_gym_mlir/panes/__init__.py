# SPDX-License-Identifier: MIT
"""The explorer's views of a payload: its module, lowered code, costs and operations."""

from collections.abc import Sequence
from typing import Any

from compiler_gym.core import (
    CostPane,
    GraphPane,
    Listing,
    PaneEdge,
    PaneGraph,
    PaneNode,
    Panes,
    TextPane,
)
from compiler_gym_mlir.observations import OBSERVATION_SPACES

__all__ = ["MODULE", "PANES"]

MODULE = Listing("mlir", "//", begin=r"  (?:llvm|func)\.func .*@([\w.$-]+)\(.*\{$", end=r"  \}")
"""The syntax of a module."""


def _graph(values: Sequence[Any], function: str) -> PaneGraph:
    """Return the operations and the values between them as a graph."""
    (graph,) = values
    nodes = tuple(
        PaneNode(
            id=str(number),
            label=" ".join(filter(None, (node["text"], node["tag"]))),
            kind=node["kind"],
            function=function,
        )
        for number, node in enumerate(graph["nodes"])
    )
    edges = tuple(
        PaneEdge(str(edge["source"]), str(edge["target"]), kind=edge["flow"])
        for edge in graph["edges"]
    )
    return PaneGraph(nodes, edges)


PANES = Panes(
    text=TextPane("ModuleText", MODULE, title="Module"),
    assembly=TextPane("LoweredText", MODULE, title="LLVM dialect"),
    source=TextPane("PayloadText"),
    costs=(
        CostPane("StaticCost", "static cost", baselines={"naive": "StaticCostNaive"}),
        CostPane(
            "RuntimeMedian",
            "run time",
            "µs",
            baselines={"naive": "RuntimeNaive", "numpy": "RuntimeNumpy"},
        ),
    ),
    vectors={"ScheduleMask": ()},
    graphs=(GraphPane("operations", "Operations", _graph, ("OperationGraph",)),),
    running=frozenset(spec.name for spec in OBSERVATION_SPACES if not spec.deterministic)
    | {"IsRunnable"},
)
"""All panes, by names in the table."""
