# SPDX-License-Identifier: MIT
"""Values whose format is only known by name, such as graphs of networkx."""

from typing import Any, cast

from compiler_gym.errors import ObservationError
from compiler_gym.spaces.base import NamedSpace, refuse_masks


class Opaque(NamedSpace):
    """Any value of `format`: any JSON value for ``"json"``, otherwise text or bytes.

    >>> graph = Opaque(name="graph", format="json")
    >>> graph.contains({"nodes": [1, 2], "edges": []}), graph.contains({1, 2})
    (True, False)
    """

    def __init__(self, name: str, format: str, *, seed: Any = None) -> None:
        super().__init__(None, None, seed)
        self.name = name
        self.format = format
        """The name of the format."""

    @property
    def is_np_flattenable(self) -> bool:
        """False: the size is unknown."""
        return False

    def sample(self, mask: None = None, probability: None = None) -> Any:
        """Return a small random value."""
        refuse_masks(self, mask, probability)
        number = int(self.np_random.integers(100))
        return {"value": number} if self.format == "json" else str(number)

    def contains(self, x: Any) -> bool:
        """Return whether `x` can be a value of the format."""
        return _is_json(x) if self.format == "json" else isinstance(x, (str, bytes))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and (self.name, self.format) == (other.name, other.format)

    def __repr__(self) -> str:
        return f"Opaque({self.format})"


def _is_json(value: Any) -> bool:
    # An explicit stack, because graphs may be nested deeper than Python's recursion limit.
    pending: list[Any] = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            table = cast("dict[Any, Any]", item)
            if not all(isinstance(key, str) for key in table):
                return False
            pending.extend(table.values())
        elif isinstance(item, list):
            items = cast("list[Any]", item)
            pending.extend(items)
        elif not (item is None or isinstance(item, (bool, int, float, str))):
            return False
    return True


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
