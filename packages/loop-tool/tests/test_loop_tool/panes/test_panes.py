# SPDX-License-Identifier: MIT
import compiler_gym
from compiler_gym_loop_tool.panes import PANES


def test_named_panes_are_offered_and_the_graph_shows_the_tree() -> None:
    with compiler_gym.make("loop_tool-v0") as env:
        env.reset(reward_space=None, benchmark="loop_tool://matmul/m=16,n=16,k=16")
        assert env.panes is PANES
        for pane in (PANES.text, PANES.assembly, PANES.source):
            assert pane is not None
            assert env.observation[pane.observation]
        assert set(env.observation) >= PANES.running
        (pane,) = PANES.graphs
        graph = pane.read([env.observation[name] for name in pane.observations], "")
    kinds = [node.kind for node in graph.nodes]
    assert kinds.count("loop") == 3
    assert kinds.count("tensor") == 3
    assert "for m in 16" in [node.label for node in graph.nodes]
    ids = {node.id for node in graph.nodes}
    assert all({edge.source, edge.target} <= ids for edge in graph.edges)
    assert {edge.kind for edge in graph.edges} == {"control", "data"}
