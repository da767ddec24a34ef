# SPDX-License-Identifier: MIT
"""The agent makes likelier what was fast, plays real schedules, and goes on where it was ended."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compiler_gym

from .conftest import load_agent

FAST = ("block-8x16x4", "vectorize-operation")


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch) -> Any:
    loaded = load_agent("schedule_policy")
    monkeypatch.setattr(loaded, "TRAIN", ("linalg-v0/matmul/16x16x16",))
    monkeypatch.setattr(loaded, "TEST", {"small": "linalg-v0/matmul/24x32x16"})
    return loaded


def test_it_learns_compares_prints_and_goes_on(
    agent: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "kept.jsonl"
    words = [
        "--seeds=1", "--rounds=1", "--episodes=2", "--evaluations=2", "--epochs=2", f"--file={file}"
    ]  # fmt: skip
    assert agent.main([*words, "--seconds=0"]) == {}
    means = agent.main(words)
    assert set(means) == {"learnt", "random", "greedy", "beam of 4"}
    assert all(found[0] >= 1 for found in means.values())
    assert "schedules a program" in capsys.readouterr().out
    kept = file.read_text()
    assert agent.main(words) == means
    assert file.read_text() == kept


def test_actions_of_fast_episodes_become_likelier(agent: Any) -> None:
    policy = agent.Policy(6, 9, agent.Options(epochs=200, hidden=16), seed=0)
    states = np.eye(6)[:2].tolist()
    masks = [[1, 3, 4], [0, 2, 8]]
    policy.learn([agent.Played(states, masks, [3, 8], 5.0)], np.random.default_rng(0))
    mask = np.zeros(9, bool)
    mask[masks[0]] = True
    shares, _ = policy.shares(np.array(states[:1]), mask[None])
    assert shares[0, 3] > 0.9
    assert shares[0, ~mask].sum() == 0
    assert policy.likeliest(np.array(states[0]), mask, 0) == 3


def test_only_fast_schedules_are_learnt_from(agent: Any) -> None:
    made = [agent.Played([], [], [number], time) for number, time in enumerate((9, 0, 4, 5, 4.5))]
    made.append(dataclasses.replace(made[2]))
    assert [one.actions for one in agent.best_of(made, 2)] == [[2], [4]]
    assert [one.actions for one in agent.best_of(made, 9)] == [[2], [4], [3]]


def test_a_schedule_is_timed_and_one_that_fails_is_not(agent: Any) -> None:
    with compiler_gym.make("mlir-v0", action_space="Schedule") as env:
        runner = agent.Runner(env)
        program = "linalg-v0/matmul/64x64x64"  # large enough that every machine gains much
        actions = [env.action_space[name] for name in FAST]
        assert 0 < runner.time(program, actions) < runner.time(program, [])
        legal = runner.legal(program, [])
        assert actions[0] in legal
        assert env.action_space["stop"] not in legal
        assert runner.legal(program, actions) != legal
