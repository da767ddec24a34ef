# SPDX-License-Identifier: MIT
"""Inputs of dijkstra: random, grid-like and split graphs in both forms, and malformed files."""

from _cases import Case, Random

__all__ = ["COUNTS", "case"]

COUNTS = {"test": 26, "small": 4, "ref": 2}

Arcs = list[tuple[int, int, int]]

MALFORMED = (
    b"p sp 3\na 1 2 3\n",
    b"p sp 3 2\na 1 2 3\n",
    b"p sp 3 1\na 1 4 3\n",
    b"m 2\n0 1\n1\n",
    b"m 2\n0 1 1 0 7\n",
    b"c nothing\n",
)
SOURCES = {"small": 60, "ref": 850}


def case(size: str, index: int, rng: Random) -> Case:
    """Return one input of dijkstra."""
    if size != "test":
        return _large(size, index, rng)
    if index < len(MALFORMED):
        return Case({"graph": MALFORMED[index]}, ("graph",))
    nodes = (1, 2, 5, 12, 40, 90)[rng.below(6)]
    arcs = _grid(nodes, rng) if index % 4 == 0 else _arcs(nodes, nodes * rng.between(1, 6), rng)
    graph = _matrix(nodes, arcs) if index % 2 else _list(nodes, arcs)
    if index % 3 == 0:
        return Case({"graph": graph}, ("graph",))
    return Case({"graph": graph, "p2p": _questions(nodes, 20, rng)}, ("graph", "p2p"))


def _large(size: str, index: int, rng: Random) -> Case:
    if index % 2:
        nodes = {"small": 200, "ref": 520}[size]
        return Case({"graph": _matrix(nodes, _arcs(nodes, nodes * 40, rng))}, ("graph",))
    nodes = 2000
    graph = _list(nodes, _arcs(nodes, nodes * 5, rng))
    files = {"graph": graph, "p2p": _questions(nodes, SOURCES[size], rng)}
    return Case(files, ("graph", "p2p"))


def _arcs(nodes: int, count: int, rng: Random) -> Arcs:
    return [
        (rng.between(1, nodes), rng.between(1, nodes), rng.below(1000) * rng.below(1000))
        for _ in range(count)
    ]


def _grid(nodes: int, rng: Random) -> Arcs:
    width = max(1, int(nodes**0.5))
    arcs = []
    for node in range(1, nodes + 1):
        for other in (node + 1, node + width):
            if other <= nodes:
                length = rng.between(1, 9)
                arcs += [(node, other, length), (other, node, length)]
    return arcs


def _list(nodes: int, arcs: Arcs) -> bytes:
    head = f"c made for a test\np sp {nodes} {len(arcs)}\n"
    return (head + "".join(f"a {a} {b} {length}\n" for a, b, length in arcs)).encode()


def _matrix(nodes: int, arcs: Arcs) -> bytes:
    cells = [["-"] * nodes for _ in range(nodes)]
    for start, end, length in arcs:
        cells[start - 1][end - 1] = str(length)
    return (f"m {nodes}\n" + "".join(" ".join(row) + "\n" for row in cells)).encode()


def _questions(nodes: int, count: int, rng: Random) -> bytes:
    pairs = [(rng.between(1, nodes), rng.between(1, nodes)) for _ in range(count)]
    head = f"p aux sp p2p {count}\n"
    return (head + "".join(f"q {a} {b}\n" for a, b in pairs)).encode()
