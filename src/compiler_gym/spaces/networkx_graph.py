# SPDX-License-Identifier: MIT
"""Graphs of networkx, which is imported when it is needed."""

from typing import Any

from compiler_gym.errors import ObservationError
from compiler_gym.spaces.opaque import Opaque

__all__ = ["NetworkxGraph", "networkx_graph"]


class NetworkxGraph(Opaque):
    """Every `networkx.MultiDiGraph`.

    >>> NetworkxGraph("graph").format
    'networkx'
    """

    def __init__(self, name: str, *, seed: Any = None) -> None:
        super().__init__(name, "networkx", seed=seed)

    def sample(self, mask: None = None, probability: None = None) -> Any:
        """Return a path of a few nodes."""
        size = int(super().np_random.integers(1, 5))
        networkx = _networkx(self.name, "")
        return networkx.path_graph(size, create_using=networkx.MultiDiGraph)

    def contains(self, x: Any) -> bool:
        """Return whether `x` is a directed graph with parallel edges."""
        return isinstance(x, _networkx(self.name, "").MultiDiGraph)


def networkx_graph(graph: dict[str, Any], name: str, instead: str = "") -> Any:
    """Return the `networkx.MultiDiGraph` of a graph in node-link form, whose edges are ``links``.

    Without networkx, raises an `ObservationError` that suggests to install it or use `instead`.

        >>> nodes = [{"id": 0}, {"id": 1}]
        >>> links = [{"source": 0, "target": 1, "key": 0}]
        >>> list(networkx_graph({"nodes": nodes, "links": links}, "graph").edges())
        [(0, 1)]
    """
    networkx = _networkx(name, instead)
    return networkx.node_link_graph(graph, directed=True, multigraph=True, edges="links")


def _networkx(name: str, instead: str) -> Any:
    try:
        import networkx
    except ImportError as error:
        alternative = f", or use {instead}" if instead else ""
        raise ObservationError(
            f"{name} needs networkx, which is not installed ({error}): "
            f"`pip install networkx`{alternative}"
        ) from error
    return networkx
