# SPDX-License-Identifier: MIT
"""The loop tree as a graph of statements, loops and tensors, in the formats of program graphs.

Nodes are numbered: loops from top to bottom, then statements, then tensors. A control edge goes
from a loop to each child, in order, and from each child to the next. A data edge goes from a
tensor to each statement that reads it, and from a statement to the tensor it writes; a data edge
from a loop to a tensor has the stride of one step of the loop in that tensor.
"""

import json
from array import array
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from compiler_gym_loop_tool.state.cursor import Cursor
from compiler_gym_loop_tool.state.program import write_expression
from compiler_gym_loop_tool.state.tree import Loop, list_leaves

__all__ = [
    "ARRAYS",
    "CONTROL",
    "DATA",
    "EDGE_COLUMNS",
    "NODE_COLUMNS",
    "Graph",
    "graph_arrays",
    "graph_json",
    "make_graph",
]

INSTRUCTION, TENSOR, LOOP = 0, 1, 2
CONTROL, DATA = 0, 1
NODE_COLUMNS = ("kind", "number", "size", "tail", "flags")
EDGE_COLUMNS = ("kind", "position", "stride")
ARRAYS = (
    *(f"node_{column}" for column in NODE_COLUMNS),
    *(f"edge_{column}" for column in ("source", "target", *EDGE_COLUMNS)),
)
"""The names of the int64 arrays."""


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes as (kind, number, size, tail, flags, text), edges as (source, target, kind, position,
    stride)."""

    nodes: list[tuple[int, int, int, int, int, str]]
    edges: list[tuple[int, int, int, int, int]]


def make_graph(cursor: Cursor) -> Graph:
    """Return the graph of the tree of `cursor`."""
    tree = cursor.tree
    program = tree.program
    loops = tree.loops()
    number = {path: at for at, (path, _) in enumerate(loops)}
    statement = len(loops)
    tensor = {
        name: statement + len(program.statements) + at for at, name in enumerate(program.tensors)
    }
    nodes: list[tuple[int, int, int, int, int, str]] = []
    edges: list[tuple[int, int, int, int, int]] = []
    dims = list(program.dims)
    for at, (_, loop) in enumerate(loops):
        flags = loop.unroll | loop.vectorise << 1 | loop.parallel << 2 | (at == cursor.at) << 3
        flags |= bool(loop.packs) << 4
        nodes.append((LOOP, dims.index(loop.dim), loop.size, loop.tail, flags, loop.dim))
    for at, node in enumerate(program.statements):
        kinds = ("", "sum", "max").index(node.reduction)
        nodes.append(
            (
                INSTRUCTION,
                at,
                node.operations,
                0,
                kinds,
                f"{node.out} {node.reduction or '='} {write_expression(node.value)}",
            )
        )
    for at, node in enumerate(program.tensors.values()):
        role = ("input", "output", "temporary").index(node.role)
        nodes.append((TENSOR, at, node.elements, 0, role, node.name))

    def find_node(child: Loop | int, path: tuple[int, ...]) -> int:
        return statement + child if isinstance(child, int) else number[path]

    bodies = [((), None, tree.roots), *((path, number[path], loop.body) for path, loop in loops)]
    for path, parent, body in bodies:
        children = [find_node(child, (*path, at)) for at, child in enumerate(body)]
        if parent is not None:
            edges += [(parent, child, CONTROL, at, 0) for at, child in enumerate(children)]
        edges += [(a, b, CONTROL, 0, 0) for a, b in pairwise(children)]
    for at, node in enumerate(program.statements):
        edges += [
            (tensor[access.tensor], statement + at, DATA, position, 0)
            for position, access in enumerate(node.reads)
        ]
        edges.append((statement + at, tensor[node.out.tensor], DATA, 0, 0))
    for at, (_, loop) in enumerate(loops):
        moved = dict.fromkeys(
            (access.tensor, access.stride(loop.dim) * loop.step)
            for leaf in list_leaves(loop)
            for access in (*program.statements[leaf].reads, program.statements[leaf].out)
        )
        edges += [(at, tensor[name], DATA, 0, stride) for name, stride in moved if stride]
    return Graph(nodes, edges)


def graph_arrays(cursor: Cursor) -> dict[str, bytes]:
    """Return the graph as int64 arrays with one entry per node or edge."""
    graph = make_graph(cursor)
    node_columns = list(zip(*(node[:5] for node in graph.nodes), strict=True))
    edge_columns = list(zip(*graph.edges, strict=True))
    columns = (*node_columns, *edge_columns)
    return {name: array("q", c).tobytes() for name, c in zip(ARRAYS, columns, strict=True)}


def graph_json(cursor: Cursor) -> str:
    """Return the graph in node-link form, as read by networkx."""
    graph = make_graph(cursor)
    last_keys: dict[tuple[int, int], int] = {}
    links: list[dict[str, Any]] = []
    for source, target, flow, position, stride in graph.edges:
        key = last_keys[source, target] = last_keys.get((source, target), -1) + 1
        links.append(
            {
                "source": source,
                "target": target,
                "key": key,
                "flow": flow,
                "position": position,
                "stride": stride,
            }
        )
    nodes = [
        {
            "id": at,
            "type": kind,
            "text": text,
            "features": {"number": number, "size": size, "tail": tail, "flags": flags},
        }
        for at, (kind, number, size, tail, flags, text) in enumerate(graph.nodes)
    ]
    return json.dumps(
        {"directed": True, "multigraph": True, "graph": {}, "nodes": nodes, "links": links}
    )
