# SPDX-License-Identifier: MIT
"""A policy of tokens repeats traces, improves on them by its own episodes, and is judged."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compiler_gym_agents import find_task

from .conftest import load_agent

TASK = find_task("fewer-instructions/cbench-v1/crc32")
TRACE = {"task": TASK.id, "actions": ["sroa", "unknown", "instcombine"]}


@pytest.fixture(scope="module")
def agent() -> Any:
    return load_agent("token_policy")


def test_rewarded_actions_become_likelier(agent: Any) -> None:
    network = agent.Network(3, 4, agent.Options())
    seen = np.array([[1.0, 0.0, -1.0]] * 2)
    for _ in range(50):
        network.learn(seen, np.array([2.0, 1.0]), np.array([1.0, -1.0]), 1e-2)
    chances = network.probabilities(seen)[2][0]
    assert network.likeliest(seen[0]) == 2
    assert chances[1] < 0.25 < chances[2]
    assert chances.sum() == pytest.approx(1)


def test_a_policy_repeats_a_trace_and_then_improves_on_it(agent: Any) -> None:
    options = agent.Options(length=3, epochs=40, updates=12, group=6, programs=1)
    game = agent.Game(["sroa", "instcombine", "-Oz"], options)
    try:
        network = agent.Network(game.inputs, 4, options)
        agent.clone(game, network, [TASK], [TRACE], options)
        cloned = game.play(TASK, network.likeliest)
        assert cloned.tokens == [0, 1, 3]
        assert "sroa" in cloned.commandline
        assert cloned.gain < 0
        network.weights[2] *= 0.1  # less sure, so that other tokens are drawn
        network.weights[3] *= 0.1
        means = list(agent.improve(game, network, [TASK], options))
        assert np.mean(means[-3:]) > np.mean(means[:3])
        assert game.play(TASK, network.likeliest).gain > cloned.gain
    finally:
        game.close()


def test_a_finished_search_is_not_repeated(agent: Any, tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_text(json.dumps(TRACE) + "\n")
    assert list(agent.traces_of([TASK], path, steps=0)) == [TRACE]


def test_an_interval_is_around_its_mean(agent: Any) -> None:
    found = agent.interval(np.array([0.0, 0.1, 0.2, 0.3]))
    assert 0 <= found["low"] < found["mean"] < found["high"] <= 0.3


@pytest.mark.slow
def test_a_run_learns_and_is_judged_on_tasks_held_out(agent: Any, tmp_path: Path) -> None:
    options = replace(
        agent.Options(), output=str(tmp_path), search_steps=20, largest=120, words=4, epochs=5,
        updates=2, programs=2, group=2, held_out=2,
    )  # fmt: skip
    results = agent.main(options)
    assert results == json.loads((tmp_path / "results.json").read_text())
    assert results["held_out_tasks"] == 2
    assert len(results["progress"]) == 2
    assert results["trained"]["low"] <= results["trained"]["mean"] <= results["trained"]["high"]
    assert len((tmp_path / "traces.jsonl").read_text().splitlines()) == results["training_tasks"]
