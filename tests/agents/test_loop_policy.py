# SPDX-License-Identifier: MIT
"""The agent learns within seconds what random actions seldom find, the same for a seed."""

import numpy as np
import pytest

import compiler_gym

from .conftest import load_agent

WORDS = ["--train_seconds=0.2", "--seconds=0.05", "--search_seconds=0.05", "--programs=1"]


def test_it_learns_compares_and_prints(capsys: pytest.CaptureFixture[str]) -> None:
    speedups = load_agent("loop_policy").main([*WORDS, "--population=10"])
    assert len(speedups) == 5
    assert all(found[0] >= 1 for found in speedups.values())
    assert "learnt from" in capsys.readouterr().out


def test_the_table_is_moved_towards_what_the_model_likes() -> None:
    agent = load_agent("loop_policy")
    with compiler_gym.make(
        "loop_tool-v0",
        action_space="loops",
        observation_space=None,
        reward_space=None,
        isolation="in-process",
    ) as env:
        policy = agent.LoopPolicy(agent.parse([]), env.action_space.names)
        program = "benchmark://looptune-matmul-v0/64x64x64"

        def mean() -> float:
            drawn = [policy.sequence() for _ in range(40)]
            return float(np.mean([agent.modelled(env, program, actions) for actions in drawn]))

        before = mean()
        policy.train(env, [program, "benchmark://looptune-matmul-v0/96x80x64"], 4.0)
        assert mean() > before
        assert np.allclose(policy.table.sum(axis=1), 1)
