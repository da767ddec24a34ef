# SPDX-License-Identifier: MIT
"""The agent learns within seconds what random actions seldom find, the same for a seed."""

import numpy as np
import pytest

import compiler_gym

from .conftest import load_agent

WORDS = ["--train_seconds=0.2", "--seconds=0.05", "--search_seconds=0.1", "--programs=1"]


def test_it_learns_compares_and_prints(capsys: pytest.CaptureFixture[str]) -> None:
    speedups = load_agent("loop_policy").main([*WORDS, "--population=10"])
    assert len(speedups) == 5
    assert all(found[0] >= 1 for found in speedups.values())
    assert "learnt from" in capsys.readouterr().out


def test_the_table_is_moved_towards_what_earns_most(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = load_agent("loop_policy")
    policy = agent.LoopPolicy(agent.parse(["--length=5"]), [f"a{at}" for at in range(9)])
    monkeypatch.setattr(agent, "modelled", lambda env, program, taken: 1.0 + taken.count(3))
    tried = policy.train(None, ["one", "two"], 60.0, rounds=25)
    assert tried == 25 * 2 * 160
    assert policy.likeliest() == [3] * 5
    assert np.allclose(policy.table.sum(axis=1), 1)
    assert (policy.table > 0).all()


def test_what_was_learnt_is_a_fast_nest() -> None:
    agent = load_agent("loop_policy")
    with compiler_gym.make(
        "loop_tool-v0", action_space="loops", reward_space=None, isolation="in-process"
    ) as env:
        program = "benchmark://looptune-matmul-v0/64x64x64"
        names = "split_4 down swap_down swap_down up split_16 down swap_down swap_down".split()
        actions = [env.action_space[name] for name in names]
        assert agent.modelled(env, program, actions) > 0
        assert agent.measured(env, program, actions) > agent.measured(env, program, [])
