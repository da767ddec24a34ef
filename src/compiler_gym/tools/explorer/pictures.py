# SPDX-License-Identifier: MIT
"""Graphs of states, with the differences to another state marked."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from compiler_gym.core import GraphPane, PaneGraph, PaneNode, Panes
from compiler_gym.errors import ExplorerError, unknown_name
from compiler_gym.tools.explorer.records import Edge, Graph, GraphNode
from compiler_gym.tools.explorer.texts import Listings, make_text
from compiler_gym.tools.explorer.tree import State, Tree

__all__ = ["draw_graph", "find_pane"]

_MOST_NODES = 60_000


def find_pane(panes: Panes, kind: str) -> GraphPane:
    """Return the picture called `kind`, or raise `ExplorerError`."""
    known = {pane.kind: pane for pane in panes.graphs}
    if kind not in known:
        raise ExplorerError(unknown_name("graph", kind, known), status=404)
    return known[kind]


def draw_graph(
    tree: Tree, listings: Listings, state: State, pane: GraphPane, function: str | None,
    against: State | None,
) -> Graph:  # fmt: skip
    """Return a graph of `state`, with the differences to `against` marked."""
    if pane.of_function and not function:
        raise ExplorerError(f"{pane.kind} is drawn of a function: expected ?function=NAME")
    name = function or ""
    graph = _graph_at(tree, listings, state, pane, name)
    if len(graph.nodes) > _MOST_NODES:
        raise ExplorerError(
            f"this graph has {len(graph.nodes):,} nodes: expected at most {_MOST_NODES:,}",
            status=422,
            next="ask for one function",
        )
    other = None
    if against is not None:
        other = _other_end(tree, listings, against, pane, name)
    status = _statuses(graph, other)
    return Graph(
        node=state.id,
        kind=pane.kind,
        function=name,
        nodes=[_graph_node(node, status.get(node.id, "")) for node in graph.nodes],
        edges=_edges(graph, other, status),
        removed_nodes=[_graph_node(node, "removed") for node in _remove(graph, other)],
    )


def _graph_at(
    tree: Tree, listings: Listings, state: State, pane: GraphPane, name: str
) -> PaneGraph:
    if pane.observations:
        values: Sequence[Any] = tree.use(
            state, lambda env: [env.observation[one] for one in pane.observations]
        )
        return pane.read(values, name)
    if tree.panes.text is None:
        raise ExplorerError("this environment shows no text: it draws no such graph", status=404)
    listed = listings.of(state, tree.panes.text)
    return pane.read([make_text(listed, tree.panes.text, state.id, name).text], name)


def _other_end(
    tree: Tree, listings: Listings, state: State, pane: GraphPane, name: str
) -> PaneGraph:
    try:
        return _graph_at(tree, listings, state, pane, name)
    except ExplorerError as error:  # the function is not there
        if error.status != 404:
            raise
        return PaneGraph((), ())


def _statuses(graph: PaneGraph, other: PaneGraph | None) -> dict[str, str]:
    """Return the status of each node in the other state, matched by content, then by name."""
    if other is None:
        return {}
    equal = Counter(map(_content_of_node, other.nodes))
    names = {node.id for node in other.nodes}
    found: dict[str, str] = {}
    for node in graph.nodes:
        if equal[_content_of_node(node)] > 0:
            equal[_content_of_node(node)] -= 1
            found[node.id] = "same"
        else:
            found[node.id] = "changed" if node.id in names else "added"
    return found


def _remove(graph: PaneGraph, other: PaneGraph | None) -> list[PaneNode]:
    if other is None:
        return []
    equal = Counter(map(_content_of_node, graph.nodes))
    names = {node.id for node in graph.nodes}
    gone: list[PaneNode] = []
    for node in other.nodes:
        if equal[_content_of_node(node)] > 0:
            equal[_content_of_node(node)] -= 1
        elif node.id not in names:
            gone.append(node)
    return gone


def _edges(graph: PaneGraph, other: PaneGraph | None, status: dict[str, str]) -> list[Edge]:
    """Return the edges; one is the same if it joins equal nodes, or nodes of the same names."""
    equal, named = _ends(other)
    digests = {node.id: _content_of_node(node) for node in graph.nodes}
    found: list[Edge] = []
    for edge in graph.edges:
        mark = ""
        if status:
            by_digest = digests[edge.source], digests[edge.target], edge.kind
            by_name = edge.source, edge.target, edge.kind
            has_changed = "changed" in (status[edge.source], status[edge.target])
            is_same = _take_one(equal, by_digest) or (has_changed and _take_one(named, by_name))
            mark = "same" if is_same else "added"
        found.append(
            Edge(
                source=edge.source,
                target=edge.target,
                label=edge.label,
                kind=edge.kind,
                status=mark,
            )
        )
    return found


_Ends = Counter[tuple[str, str, str]]


def _ends(graph: PaneGraph | None) -> tuple[_Ends, _Ends]:
    """Return the ends of the edges, as the contents and as the names of their nodes."""
    if graph is None:
        return Counter(), Counter()
    digests = {node.id: _content_of_node(node) for node in graph.nodes}
    return (
        Counter((digests[one.source], digests[one.target], one.kind) for one in graph.edges),
        Counter((one.source, one.target, one.kind) for one in graph.edges),
    )


def _take_one(left: _Ends, key: tuple[str, str, str]) -> bool:
    """Remove one and return whether there was one."""
    if left[key] <= 0:
        return False
    left[key] -= 1
    return True


def _content_of_node(node: PaneNode) -> str:
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
