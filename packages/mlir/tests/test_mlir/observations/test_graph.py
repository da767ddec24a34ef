# SPDX-License-Identifier: MIT
"""The graph joins what makes a value with what takes it."""

from compiler_gym_mlir.observations.graph import make_graph
from test_mlir.schedules import MATMUL, scheduled


def test_a_product_takes_what_was_filled() -> None:
    graph = make_graph(scheduled(MATMUL, "tile matmul0 8 32 4").module)
    tags = {node["tag"] for node in graph["nodes"]}
    assert {"fill0", "matmul0"} <= tags
    assert {edge["flow"] for edge in graph["edges"]} == {"control", "data"}
    assert all(edge["target"] < len(graph["nodes"]) for edge in graph["edges"])
