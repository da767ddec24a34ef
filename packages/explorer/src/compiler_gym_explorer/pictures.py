# SPDX-License-Identifier: MIT
"""Graphs of states, with differences from another state marked."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from compiler_gym.core import GraphPane, PaneGraph, PaneNode, Panes
from compiler_gym.errors import ExplorerError, unknown_name
from compiler_gym_explorer.records import Edge, Graph, GraphNode
from compiler_gym_explorer.texts import Listings, make_text
from compiler_gym_explorer.tree import State, Tree

__all__ = ["draw_graph", "find_pane"]

_MOST_NODES = 60_000


def find_pane(panes: Panes, kind: str) -> GraphPane:
    """Return the graph pane called `kind`, or raise `ExplorerError`."""
    by_kind = {pane.kind: pane for pane in panes.graphs}
    if kind not in by_kind:
        raise ExplorerError(unknown_name("graph", kind, by_kind), status=404)
    return by_kind[kind]


def draw_graph(
    tree: Tree, listings: Listings, state: State, pane: GraphPane, function: str | None,
    against: State | None,
) -> Graph:  # fmt: skip
    """Return a graph of `state`, with the differences from `against` marked."""
    if pane.of_function and not function:
        raise ExplorerError(f"{pane.kind} is a graph of one function: add ?function=NAME")
    name = function or ""
    graph = _graph_at(tree, listings, state, pane, name)
    if len(graph.nodes) > _MOST_NODES:
        raise ExplorerError(
            f"this graph has {len(graph.nodes):,} nodes, more than the limit of {_MOST_NODES:,}",
            status=422,
            next="choose a single function",
        )
    other = None
    if against is not None:
        other = _graph_or_empty(tree, listings, against, pane, name)
    status = _statuses(graph, other)
    return Graph(
        node=state.id,
        kind=pane.kind,
        function=name,
        nodes=[_graph_node(node, status.get(node.id, "")) for node in graph.nodes],
        edges=_edges(graph, other, status),
        removed_nodes=[_graph_node(node, "removed") for node in _removed_nodes(graph, other)],
    )


def _graph_at(
    tree: Tree, listings: Listings, state: State, pane: GraphPane, name: str
) -> PaneGraph:
    if pane.observations:
        values: Sequence[Any] = tree.use(
            state, lambda env: [env.observation[key] for key in pane.observations]
        )
        return pane.read(values, name)
    if tree.panes.text is None:
        raise ExplorerError(
            "this environment has no program text to draw the graph from", status=404
        )
    listing = listings.of(state, tree.panes.text)
    return pane.read([make_text(listing, tree.panes.text, state.id, name).text], name)


def _graph_or_empty(
    tree: Tree, listings: Listings, state: State, pane: GraphPane, name: str
) -> PaneGraph:
    try:
        return _graph_at(tree, listings, state, pane, name)
    except ExplorerError as error:  # the function does not exist in this state
        if error.status != 404:
            raise
        return PaneGraph((), ())


def _statuses(graph: PaneGraph, other: PaneGraph | None) -> dict[str, str]:
    """Return each node's status relative to `other`, matched by content, then by name."""
    if other is None:
        return {}
    equal = Counter(map(_node_content, other.nodes))
    names = {node.id for node in other.nodes}
    statuses: dict[str, str] = {}
    for node in graph.nodes:
        if equal[_node_content(node)] > 0:
            equal[_node_content(node)] -= 1
            statuses[node.id] = "same"
        else:
            statuses[node.id] = "changed" if node.id in names else "added"
    return statuses


def _removed_nodes(graph: PaneGraph, other: PaneGraph | None) -> list[PaneNode]:
    if other is None:
        return []
    equal = Counter(map(_node_content, graph.nodes))
    names = {node.id for node in graph.nodes}
    removed: list[PaneNode] = []
    for node in other.nodes:
        if equal[_node_content(node)] > 0:
            equal[_node_content(node)] -= 1
        elif node.id not in names:
            removed.append(node)
    return removed


def _edges(graph: PaneGraph, other: PaneGraph | None, status: dict[str, str]) -> list[Edge]:
    """Return the edges; one is unchanged if it joins equal nodes, or nodes of the same names."""
    by_content, by_names = _ends(other)
    digests = {node.id: _node_content(node) for node in graph.nodes}
    edges: list[Edge] = []
    for edge in graph.edges:
        mark = ""
        if status:
            contents = digests[edge.source], digests[edge.target], edge.kind
            names = edge.source, edge.target, edge.kind
            has_changed = "changed" in (status[edge.source], status[edge.target])
            is_same = _take(by_content, contents) or (has_changed and _take(by_names, names))
            mark = "same" if is_same else "added"
        edges.append(
            Edge(
                source=edge.source,
                target=edge.target,
                label=edge.label,
                kind=edge.kind,
                status=mark,
            )
        )
    return edges


_Ends = Counter[tuple[str, str, str]]


def _ends(graph: PaneGraph | None) -> tuple[_Ends, _Ends]:
    """Return the ends of the edges, by the contents and by the names of their nodes."""
    if graph is None:
        return Counter(), Counter()
    digests = {node.id: _node_content(node) for node in graph.nodes}
    return (
        Counter((digests[edge.source], digests[edge.target], edge.kind) for edge in graph.edges),
        Counter((edge.source, edge.target, edge.kind) for edge in graph.edges),
    )


def _take(ends: _Ends, key: tuple[str, str, str]) -> bool:
    """Remove one occurrence of `key` and return whether there was one."""
    if ends[key] <= 0:
        return False
    ends[key] -= 1
    return True


def _node_content(node: PaneNode) -> str:
    return f"{node.function}\n{node.digest or node.label}"


def _graph_node(node: PaneNode, status: str) -> GraphNode:
    return GraphNode(
        id=node.id,
        label=node.label,
        kind=node.kind,
        function=node.function,
        status=status,
        weight=node.weight,
    )
