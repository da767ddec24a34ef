# SPDX-License-Identifier: MIT
"""dijkstra against networkx."""

import itertools
import re
from pathlib import Path
from typing import Any

import pytest

from .conftest import Execute, cases

LIST_HEAD, MATRIX_HEAD = "p sp {nodes} {arcs}\n", "m {nodes}\n"


@pytest.fixture
def networkx() -> Any:
    return pytest.importorskip("networkx", reason="needs networkx")


def _random_arcs(rng: Any, nodes: int, count: int) -> dict[tuple[int, int], int]:
    return {(rng.between(1, nodes), rng.between(1, nodes)): rng.below(200) for _ in range(count)}


def _write(folder: Path, nodes: int, arcs: dict[tuple[int, int], int], form: str) -> None:
    if form == "list":
        text = LIST_HEAD.format(nodes=nodes, arcs=len(arcs))
        text += "".join(f"a {a} {b} {length}\n" for (a, b), length in arcs.items())
    else:
        every = range(1, nodes + 1)
        rows = [" ".join(str(arcs.get((a, b), "-")) for b in every) for a in every]
        text = MATRIX_HEAD.format(nodes=nodes) + "\n".join(rows) + "\n"
    (folder / "graph").write_text(text)


def _graph(networkx: Any, nodes: int, arcs: dict[tuple[int, int], int]) -> Any:
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(1, nodes + 1))
    graph.add_weighted_edges_from((a, b, length) for (a, b), length in arcs.items())
    return graph


@pytest.mark.parametrize("form", ["list", "matrix"])
@pytest.mark.parametrize("density", [1, 2, 4, 20])
def test_distances_are_networkxs_and_paths_add_up_to_them(
    execute: Execute, networkx: Any, tmp_path: Path, form: str, density: int
) -> None:
    rng, nodes = cases.Random(density), 60
    arcs = _random_arcs(rng, nodes, nodes * density)
    _write(tmp_path, nodes, arcs, form)
    graph = _graph(networkx, nodes, arcs)
    pairs = [(rng.between(1, nodes), rng.between(1, nodes)) for _ in range(80)]
    (tmp_path / "p2p").write_text("".join(f"q {a} {b}\n" for a, b in pairs))
    answers = execute("dijkstra", "graph", "p2p").decode().splitlines()
    for (start, end), line in zip(pairs, answers, strict=True):
        if not networkx.has_path(graph, start, end):
            assert line == f"{start} to {end}: no path"
            continue
        found = re.fullmatch(rf"{start} to {end}: (\d+) by ([\d ]+)", line)
        assert found is not None
        length = networkx.dijkstra_path_length(graph, start, end)
        path = [int(node) for node in found[2].split()]
        assert path[0] == start
        assert path[-1] == end
        assert int(found[1]) == length
        assert sum(arcs[step] for step in itertools.pairwise(path)) == length


@pytest.mark.parametrize("form", ["list", "matrix"])
def test_the_summary_of_each_source_is_networkxs(
    execute: Execute, networkx: Any, tmp_path: Path, form: str
) -> None:
    nodes = 40
    arcs = _random_arcs(cases.Random(9), nodes, 90)
    _write(tmp_path, nodes, arcs, form)
    graph = _graph(networkx, nodes, arcs)
    expected: list[str] = []
    for source in range(1, nodes + 1):
        lengths = networkx.single_source_dijkstra_path_length(graph, source).values()
        tail = f"farthest {max(lengths)}, sum {sum(lengths)}"
        expected.append(f"{source} reaches {len(lengths)}, {tail}")
    assert execute("dijkstra", "graph").decode().splitlines() == expected


@pytest.mark.parametrize(
    "text", ["p sp 2 1\na 1 2 -3\n", "p sp 2 1\na 0 1 3\n", "m 1\nx\n", "p max 1 1\n", ""]
)
def test_a_malformed_graph_is_refused(execute: Execute, tmp_path: Path, text: str) -> None:
    (tmp_path / "graph").write_text(text)
    assert execute("dijkstra", "graph", status=3) == b""
