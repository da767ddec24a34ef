# SPDX-License-Identifier: MIT
"""Values of a named format."""

import sys

import pytest

from compiler_gym.errors import ObservationError
from compiler_gym.spaces import NetworkxGraph, Opaque, networkx_graph


@pytest.mark.parametrize("value", [None, True, 1, 1.5, "x", [], [1, ["a"]], {"a": {"b": [None]}}])
def test_json_holds_what_json_can_hold(value: object) -> None:
    assert Opaque("x", "json").contains(value)


@pytest.mark.parametrize("value", [b"x", (1, 2), {1: 2}, {1, 2}, object(), [1, b"x"]])
def test_json_holds_nothing_else(value: object) -> None:
    assert not Opaque("x", "json").contains(value)


def test_deep_values_do_not_overflow_the_stack() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert Opaque("x", "json").contains(deep)


def test_other_formats_are_text_or_bytes() -> None:
    space = Opaque("x", "flatbuffer")
    assert space.contains(b"x")
    assert space.contains("x")
    assert not space.contains({"a": 1})
    assert space != Opaque("x", "json")
    assert repr(space) == "Opaque(flatbuffer)"


def test_a_graph_space_knows_graphs_of_networkx_alone() -> None:
    networkx = pytest.importorskip("networkx", reason="networkx is not installed")
    space = NetworkxGraph("graph", seed=1)
    assert space.sample() in space
    assert networkx.MultiDiGraph() in space
    assert networkx.DiGraph() not in space
    assert {"nodes": []} not in space


def test_attributes_of_parallel_edges_are_kept() -> None:
    pytest.importorskip("networkx", reason="networkx is not installed")
    links = [{"source": 0, "target": 1, "key": key, "stride": 8 * key} for key in (0, 1)]
    graph = networkx_graph({"nodes": [{"id": 0}, {"id": 1}], "links": links}, "graph")
    assert [stride for *_, stride in graph.edges(data="stride")] == [0, 8]


def test_without_networkx_the_error_gives_the_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(
        ObservationError, match=r"Tree needs networkx.*`pip install networkx`, or use arrays"
    ):
        networkx_graph({"nodes": [], "links": []}, "Tree", "arrays")
