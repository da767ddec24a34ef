# SPDX-License-Identifier: MIT
"""The explorer's views of a loop nest: its tree, its code, and the graph of both."""

from collections.abc import Sequence
from typing import Any

from compiler_gym.core import GraphPane, Listing, PaneEdge, PaneGraph, PaneNode, Panes, TextPane
from compiler_gym_loop_tool.observations import TIMED

__all__ = ["PANES", "TREE"]

TREE = Listing("python", "#", begin=r"(?=for )()", end=r"(?!)")
"""The syntax of a loop tree: one piece, without functions."""
_KINDS_OF_NODES = ("statement", "tensor", "loop")


def _graph(values: Sequence[Any], function: str) -> PaneGraph:
    """Return loops, statements and tensors as a graph; data edges are labelled with strides."""
    graph: dict[str, list[dict[str, Any]]] = values[0]
    nodes = tuple(
        PaneNode(
            id=str(node["id"]),
            label=_node_label(node),
            kind=_KINDS_OF_NODES[int(node["type"])],
            function=function,
        )
        for node in graph["nodes"]
    )
    edges = tuple(
        PaneEdge(
            str(link["source"]),
            str(link["target"]),
            str(link["stride"]) if link["flow"] else "",
            "data" if link["flow"] else "control",
        )
        for link in graph["links"]
    )
    return PaneGraph(nodes, edges)


def _node_label(node: dict[str, Any]) -> str:
    size, tail = node["features"]["size"], node["features"]["tail"]
    if _KINDS_OF_NODES[node["type"]] == "statement":
        return node["text"]
    if _KINDS_OF_NODES[node["type"]] == "tensor":
        return f"{node['text']}: {size}"
    return f"for {node['text']} in {size}" + (f" r {tail}" if tail else "")


PANES = Panes(
    text=TextPane("loop_tree", TREE, title="Loop tree"),
    assembly=TextPane(
        "llvm_ir",
        Listing("llvm", ";", begin=r'define .*@("[^"]+"|[\w.$-]+)\(', end=r"}"),
        title="LLVM IR",
    ),
    source=TextPane("program_text"),
    graphs=(GraphPane("tree", "Loops and tensors", _graph, ("loop_graph_json",)),),
    running=frozenset(TIMED),
)
"""The panes, by names in the table. More GFLOPS are better, so there is no cost."""
