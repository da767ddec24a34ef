# SPDX-License-Identifier: MIT
# NetworkX types its graphs partially:
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""The graph holds every loop, statement and tensor, in both forms alike."""

import json

import networkx as nx
import numpy as np

from compiler_gym_loop_tool.observations.graph import (
    ARRAYS,
    CONTROL,
    DATA,
    graph_arrays,
    graph_json,
)
from compiler_gym_loop_tool.state.cursor import Cursor
from compiler_gym_loop_tool.state.descriptions import describe
from compiler_gym_loop_tool.state.reading import parse_program
from compiler_gym_loop_tool.state.tree import initial_tree


def cursor() -> Cursor:
    return Cursor(initial_tree(parse_program(describe("dense", "m=3,n=4,k=5"))))


def test_loops_statements_and_tensors_are_nodes() -> None:
    graph = json.loads(graph_json(cursor()))
    kinds = [node["type"] for node in graph["nodes"]]
    assert kinds == [2] * 5 + [0] * 2 + [1] * 5
    found = nx.node_link_graph(graph, edges="links")
    assert found.number_of_nodes() == 12
    assert nx.is_weakly_connected(found)


def test_edges_carry_strides() -> None:
    graph = json.loads(graph_json(cursor()))
    texts = {node["id"]: node["text"] for node in graph["nodes"]}
    strides = {
        (link["source"], texts[link["target"]]): link["stride"]
        for link in graph["links"]
        if link["flow"] == DATA and link["stride"]
    }
    assert strides[0, "X"] == 5  # a step of m: a row of X[m, k]
    assert strides[2, "W"] == 4  # a step of k: a row of W[k, n]


def test_the_arrays_are_the_same_graph() -> None:
    graph = json.loads(graph_json(cursor()))
    arrays = {name: np.frombuffer(data, np.int64) for name, data in graph_arrays(cursor()).items()}
    assert tuple(arrays) == ARRAYS
    assert arrays["node_kind"].tolist() == [node["type"] for node in graph["nodes"]]
    for column, key in (("source", "source"), ("target", "target"), ("kind", "flow")):
        assert arrays[f"edge_{column}"].tolist() == [link[key] for link in graph["links"]]
    assert (
        arrays["edge_kind"] == CONTROL
    ).sum() == 6  # 5 into the 5 loops' bodies, 1 between the nests


def test_a_tensor_that_is_read_in_two_orders_has_an_edge_for_each_stride() -> None:
    text = describe("einsum", "ab,ba->ab/a=4,b=4").replace("B[b, a]", "A[b, a]")
    graph = json.loads(graph_json(Cursor(initial_tree(parse_program(text)))))
    names = {node["id"]: node["text"] for node in graph["nodes"]}
    strides = [
        link["stride"]
        for link in graph["links"]
        if link["source"] == 0 and names[link["target"]] == "A"
    ]
    assert sorted(strides) == [1, 4]
