# SPDX-License-Identifier: MIT
import sys

import pytest

from compiler_gym.errors import ObservationError
from compiler_gym.spaces import NetworkxGraph, networkx_graph


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
