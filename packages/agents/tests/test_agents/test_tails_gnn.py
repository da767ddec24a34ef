# SPDX-License-Identifier: MIT
"""The agent reads functions out of a module's graph, learns rare exceptions, and comes trained."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compiler_gym
from compiler_gym.tools.learn.tails import Labels

from .conftest import AGENTS, load_agent

PROGRAM = "cbench-v1/crc32"


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the agent's file as a module; it uses the network of a file next to it."""
    pytest.importorskip("torch", reason="torch is missing")
    monkeypatch.setattr(sys, "path", [str(AGENTS), *sys.path])
    return load_agent("tails_gnn")


def _module() -> dict[str, Any]:
    """Return the graph of a program after ``clang -Oz``, and the names of its functions."""
    with compiler_gym.make("llvm-tails-v0", benchmark=PROGRAM) as env:
        env.reset()
        names = env.observation["FunctionFeatures"]["names"]
        return {"names": names, **env.observation["ProgramlArrays"]}


def test_the_graph_of_a_function_has_its_instructions_and_whole_edges(agent: Any) -> None:
    module = _module()
    graphs = agent.split_graph(module, module["names"])
    assert tuple(graphs) == module["names"]
    ends = module["node_function"][[module["edge_source"], module["edge_target"]]]
    touching = [(ends == n).any(axis=0).sum() for n in range(ends.max() + 1)]
    assert {len(graph["edge_kind"]) for graph in graphs.values()} <= set(touching)
    with compiler_gym.make("llvm-tails-v0") as env:
        for name, graph in graphs.items():
            env.reset(benchmark=f"{PROGRAM}?function={name}")
            instructions = int(env.observation["FunctionInstructionCount"])
            assert (graph["node_kind"] == 0).sum() >= instructions  # and those that it calls
            assert max(graph["edge_source"].max(), graph["edge_target"].max()) < len(
                graph["node_kind"]
            )
            edges = {(graph["node_text"][s], graph["node_text"][t]) for s, t in zip(
                graph["edge_source"], graph["edge_target"], strict=True)}  # fmt: skip
            whole = {(module["node_text"][s], module["node_text"][t]) for s, t in zip(
                module["edge_source"], module["edge_target"], strict=True)}  # fmt: skip
            assert edges <= whole


def _labels(agent: Any) -> tuple[Labels, list[Any]]:
    """Return functions of which every second one has a better tail than the constant one."""
    is_other = np.arange(16) % 2 == 1
    counts = np.zeros((16, agent.COUNTS), np.float32)
    counts[is_other] = 9.0
    left = np.full((16, 3), (95, 100, 96), np.int32)
    left[is_other] = (100, 90, 99)
    names = np.array([str(row) for row in range(16)])
    size = np.full(16, 100, np.int32)
    labels = Labels(names, names, names, np.arange(16), size, size, counts, size[:, None], left)
    graph = {name: np.zeros(1, np.int32) for name in agent.COLUMNS}  # an edge to itself
    return labels, [graph] * 16


def test_it_learns_which_functions_are_exceptions(agent: Any, tmp_path: Path) -> None:
    labels, graphs = _labels(agent)
    options = agent.Options(hidden=8, layers=1, epochs=20, batch=8, learning_rate=1e-2)
    networks = [agent.train(labels, graphs, options, seed) for seed in range(2)]
    learned = agent.Agent(["a", "b", "c"], networks)
    chosen = learned.choose(graphs, labels.features)
    assert chosen.tolist() == [0, 1] * 8
    learned.save(tmp_path / "agent.npz")
    again = agent.Agent.load(tmp_path / "agent.npz")
    assert again.tails == ["a", "b", "c"]
    assert again.choose(graphs, labels.features).tolist() == chosen.tolist()


def test_the_trained_networks_play_a_program(
    agent: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    agent.play(agent.Agent.load(), "cbench-v1/gsm")
    last = capsys.readouterr().out.splitlines()[-1]
    before, saved = (int(word) for word in last.split() if word.isdigit())
    assert before == 2377  # of clang -Oz
    assert 0 < saved < 100
