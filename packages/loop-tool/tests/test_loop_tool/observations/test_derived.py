# SPDX-License-Identifier: MIT
# NetworkX types its graphs partially:
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
"""The graph in the forms of other libraries is the graph of the engine."""

import networkx as nx
import numpy as np

import compiler_gym
from compiler_gym_loop_tool.observations.derived import list_derived_observations

NAMES = ("loop_graph", "loop_graph_instance", "loop_graph_arrays")


def test_every_form_holds_the_same_nodes_and_edges() -> None:
    with compiler_gym.make("loop_tool-v0", action_space="loops", reward_space=None) as env:
        env.reset(benchmark="loop_tool://dense/m=6,n=7,k=8")
        env.step(env.action_space["split_4"])
        tree, instance, arrays = (env.observation[name] for name in NAMES)
        spaces = [env.observation.spaces[name].space for name in NAMES]
    assert isinstance(tree, nx.MultiDiGraph)
    assert tree.number_of_nodes() == len(instance.nodes) == len(arrays["node_kind"])
    assert tree.number_of_edges() == len(instance.edges) == len(arrays["edge_kind"])
    assert tree.nodes[0]["features"]["size"] == instance.nodes[0, 2] == 1
    assert sorted(tree.edges()) == sorted(map(tuple, instance.edge_links.tolist()))
    for space, value in zip(spaces, (tree, instance, arrays), strict=True):
        assert value in space


def test_the_columns_of_an_instance_are_those_of_the_arrays() -> None:
    (_, instance) = list_derived_observations()
    columns = {
        **{
            f"node_{name}": np.array([at])
            for at, name in enumerate(("kind", "number", "size", "tail", "flags"))
        },
        **{
            f"edge_{name}": np.array([at])
            for at, name in enumerate(("kind", "position", "stride", "source", "target"))
        },
    }
    graph = instance.translate(columns)
    assert graph.nodes.tolist() == [[0, 1, 2, 3, 4]]
    assert np.array(graph.edges).tolist() == [[0, 1, 2]]
    assert np.array(graph.edge_links).tolist() == [[3, 4]]
