# SPDX-License-Identifier: MIT
import compiler_gym
from compiler_gym.core import parts_by_function
from compiler_gym_mlir.panes import MODULE, PANES


def test_a_function_is_cut_out_of_a_module() -> None:
    body = "  func.func @one(%a: f32) -> f32 {\n    scf.for {\n    }\n  }"
    text = f"module {{\n  func.func private @far(f32)\n{body}\n}}\n"
    assert parts_by_function(text, MODULE)["one"].strip() == body.strip()
    assert "far" not in parts_by_function(text, MODULE)


def test_named_panes_are_offered_and_run_only_if_marked() -> None:
    with compiler_gym.make("mlir-v0") as env:
        env.reset(reward_space=None)
        assert env.panes is PANES
        for pane in (PANES.text, PANES.assembly, PANES.source):
            assert pane is not None
            assert "@main" in env.observation[pane.observation]
        assert set(env.observation) >= PANES.running
        assert "StaticCost" not in PANES.running
        (pane,) = PANES.graphs
        graph = pane.read([env.observation[name] for name in pane.observations], "")
    assert "linalg.matmul matmul0" in [node.label for node in graph.nodes]
    ids = {node.id for node in graph.nodes}
    assert all({edge.source, edge.target} <= ids for edge in graph.edges)
