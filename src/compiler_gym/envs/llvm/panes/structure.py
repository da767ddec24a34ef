# SPDX-License-Identifier: MIT
"""Calls, loops and the program graph, as graphs made from observations that are arrays."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from compiler_gym.core import PaneEdge, PaneGraph, PaneNode

__all__ = ["calls", "loops", "program_graph"]

_MOST_LETTERS = 48
_FLOWS = ("control", "data", "call", "type")
_NODE_KINDS = ("instruction", "variable", "constant", "type")


def calls(values: Sequence[Mapping[str, Any]], function: str) -> PaneGraph:
    """Return a node for each function and an edge for each pair of caller and callee.

    With a `function`, only that function, its callers and its callees are returned.
    """
    value = values[0]
    names = list(value["names"])
    pairs = [
        (names[caller], names[callee], int(times))
        for caller, callee, times in zip(
            value["caller"], value["callee"], value["calls"], strict=True
        )
    ]
    if function:
        pairs = [pair for pair in pairs if function in pair[:2]]
    visible = {function, *(name for pair in pairs for name in pair[:2])} if function else set(names)
    nodes = tuple(
        PaneNode(
            id=name,
            label=name,
            kind="function" if is_defined else "declaration",
            function=name if is_defined else "",
            digest=f"{name} {size}",
            weight=float(size),
        )
        for name, is_defined, size in zip(
            names, value["is_defined"], value["instructions"], strict=True
        )
        if name in visible
    )
    edges = tuple(
        PaneEdge(a, b, f"{times} times" if times > 1 else "", "call") for a, b, times in pairs
    )
    return PaneGraph(nodes, edges)


def loops(values: Sequence[Mapping[str, Any]], function: str) -> PaneGraph:
    """Return a tree of loops for each function that contains loops."""
    value, names = values[0], list(values[1]["names"])
    nodes: list[PaneNode] = []
    edges: list[PaneEdge] = []
    ids: list[str] = []
    numbers: dict[str, int] = {}
    for index, name_index in enumerate(value["function"]):
        owner = names[name_index]
        number = numbers[owner] = numbers.get(owner, -1) + 1
        ids.append(f"{owner}/{number}")
        if function and owner != function:
            continue
        if not number:
            nodes.append(PaneNode(owner, owner, "function", owner))
        parent = int(value["parent"][index])
        edges.append(PaneEdge(ids[parent] if parent >= 0 else owner, ids[index]))
        nodes.append(_loop(value, index, ids[index], owner, float(value["instructions"][index])))
    return PaneGraph(tuple(nodes), tuple(edges))


def program_graph(values: Sequence[Any], function: str) -> PaneGraph:
    """Return the ProGraML graph, or the part of it that belongs to `function`."""
    graph: dict[str, Any] = json.loads(values[0]) if isinstance(values[0], str) else values[0]
    names = [str(item) for item in graph["graph"]["function"]]
    nodes = tuple(
        _vertex(item, names)
        for item in graph["nodes"]
        if not function or _node_name(item, names) == function
    )
    ids = {node.id for node in nodes}
    edges = tuple(
        PaneEdge(
            str(link["source"]),
            str(link["target"]),
            str(link["position"]),
            _FLOWS[int(link["flow"])],
        )
        for link in graph["links"]
        if str(link["source"]) in ids and str(link["target"]) in ids
    )
    return PaneGraph(nodes, edges)


def _loop(value: Mapping[str, Any], index: int, id: str, owner: str, size: float) -> PaneNode:
    trips = int(value["trip_count"][index])
    facts = [
        f"loop at block {value['header'][index]}",
        f"depth {value['depth'][index]}",
        f"{size:g} instructions",
        *([f"{trips} iterations"] if trips else []),
        *(word for word in ("rotated", "simplified") if value[f"is_{word}"][index]),
    ]
    return PaneNode(id, "\n".join(facts), "loop", owner, weight=size)


def _vertex(item: Mapping[str, Any], names: list[str]) -> PaneNode:
    full = item.get("features", {}).get("full_text", "")
    text = str((full[0] if isinstance(full, list) and full else full) or item["text"])  # pyright: ignore[reportUnknownArgumentType]  # JSON
    short = text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}…"
    kind = int(item["type"])
    return PaneNode(str(item["id"]), short, _NODE_KINDS[kind], _node_name(item, names), digest=text)


def _node_name(item: Mapping[str, Any], names: list[str]) -> str:
    index = item.get("function")
    return names[index] if isinstance(index, int) and 0 <= index < len(names) else ""
