# SPDX-License-Identifier: MIT
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from compiler_gym.core import GraphPane, PaneEdge, PaneGraph, PaneNode, Panes
from compiler_gym.errors import ExplorerError
from compiler_gym_explorer.pictures import draw_graph, find_pane


def graph(*edges: str) -> PaneGraph:
    """Return a graph of edges such as ``a1-b2``: ids, and digests of them."""
    names = dict.fromkeys(name for edge in edges for name in edge.split("-"))
    nodes = tuple(PaneNode(name[0], name[0], digest=name[1:]) for name in names)
    return PaneGraph(
        nodes, tuple(PaneEdge(a[0], b[0]) for a, b in (edge.split("-") for edge in edges))
    )


def drawn(now: PaneGraph, before: PaneGraph | None) -> Any:
    states = {1: now, 0: before}

    def read(values: Sequence[Any], function: str) -> PaneGraph:
        return values[0]

    def use(state: Any, work: Any) -> Any:
        return work(SimpleNamespace(observation={"Graph": states[state.id]}))

    tree = cast(Any, SimpleNamespace(use=use, panes=Panes()))
    pane = GraphPane("calls", "Calls", read, ("Graph",))
    one, other = cast(Any, SimpleNamespace(id=1)), cast(Any, SimpleNamespace(id=0))
    return draw_graph(tree, cast(Any, None), one, pane, None, None if before is None else other)


def test_equal_pictures_may_have_different_names() -> None:
    found = drawn(graph("a1-b2", "b2-c3"), graph("x1-y2", "y2-c9", "c9-z4"))
    status = {node.id: node.status for node in found.nodes}
    assert status == {"a": "same", "b": "same", "c": "changed"}
    assert [edge.status for edge in found.edges] == ["same", "added"]
    assert [node.id for node in found.removed_nodes] == ["z"]


def test_edges_of_a_changed_node_are_the_same_where_they_join_the_same_names() -> None:
    found = drawn(graph("a1-b2", "b2-c3", "a1-c3"), graph("a9-b2", "b2-c3"))
    assert [node.status for node in found.nodes] == ["changed", "same", "same"]
    assert [edge.status for edge in found.edges] == ["same", "same", "added"]


def test_without_another_state_nothing_is_marked() -> None:
    found = drawn(graph("a1-b2"), None)
    assert {node.status for node in found.nodes} == {""}
    assert {edge.status for edge in found.edges} == {""}
    assert found.removed_nodes == []


def test_equal_nodes_are_matched_one_to_one() -> None:
    found = drawn(graph("a1-b1", "b1-c1"), graph("x1-y1"))
    assert sorted(node.status for node in found.nodes) == ["added", "same", "same"]


def test_only_what_is_offered_is_drawn() -> None:
    with pytest.raises(ExplorerError, match="no graph 'calls'"):
        find_pane(Panes(), "calls")
