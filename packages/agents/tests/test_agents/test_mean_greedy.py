# SPDX-License-Identifier: MIT
"""One sequence for all programs is learnt from some and taken on others."""

from collections.abc import Callable
from typing import Any

import pytest

import compiler_gym
from compiler_gym.tools.learn.leaderboard import LeaderboardTask, Limit, evaluate, find_policy

from .conftest import AGENTS, load_agent

CRC, SHA = "benchmark://cbench-v1/crc32", "benchmark://cbench-v1/sha"


@pytest.fixture
def make_env() -> Callable[[], Any]:
    return lambda: compiler_gym.make("llvm-ic-v0")


def test_the_sequence_is_better_than_its_level_where_it_was_learnt(
    make_env: Callable[[], Any],
) -> None:
    agent = load_agent("mean_greedy")
    learner = agent.MeanGreedy(agent.Options(length=2, programs=1))
    learner.train(make_env, [SHA], 60.0)
    assert len(learner.sequence) == 2
    with make_env() as env:
        env.reset(benchmark=SHA)
        learner(env)
        found = env.episode_reward
        env.reset(benchmark=SHA, action_space="PassesAndPipelines")
        env.step(env.action_space[learner.sequence[0]])
        assert found > env.episode_reward


def test_a_program_keeps_the_beginning_that_earned_most(make_env: Callable[[], Any]) -> None:
    agent = load_agent("mean_greedy")
    learner = agent.MeanGreedy()
    learner.sequence = ["-Oz", "reg2mem"]
    with make_env() as env:
        env.reset(benchmark=CRC)
        learner(env)
        assert [env.action_space.names[action] for action in env.actions] == ["-Oz"]


def test_a_leaderboard_lets_it_learn_before_it_judges() -> None:
    policy = find_policy(str(AGENTS / "mean_greedy.py"))
    policy.options = load_agent("mean_greedy").Options(programs=1, length=1)  # type: ignore[attr-defined]  # the agent's
    limit = Limit(compilations=5)
    task = LeaderboardTask(
        "demo", "A trial", limit, programs=(CRC,), train=(SHA,), train_seconds=300.0
    )
    (outcome,) = evaluate(policy, task).outcomes
    assert not outcome.error
    assert outcome.compilations == 1
    assert outcome.found < outcome.initial
