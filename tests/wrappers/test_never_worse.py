# SPDX-License-Identifier: MIT
"""The end of an episode is its best state."""

from typing import Any

import numpy as np
import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym.testing import FakeEnv, is_running, wait_until, worker_pid
from compiler_gym.wrappers import (
    ConstrainedCommandline,
    ForkOnStep,
    MacroActions,
    NeverWorse,
    TimeLimit,
)

ADD, DOUBLE, NEGATE, NOTHING = range(4)


def test_the_end_goes_back_to_the_best_state(env: FakeEnv) -> None:
    safe = NeverWorse(TimeLimit(env, 4))
    safe.reset(benchmark="fake-v0/7")
    rewards = [safe.step(action)[1] for action in (ADD, DOUBLE, NEGATE)]
    assert rewards == [-1, -8, 32]
    observation, reward, terminated, truncated, info = safe.step(ADD)
    assert (terminated, truncated) == (False, True)
    assert np.array_equal(observation, [-16, 256, -1])
    assert reward == 0
    assert safe.actions == [ADD, DOUBLE, NEGATE]
    assert info["never_worse"] == 3
    assert safe.episode_reward == 23


def test_an_end_that_is_the_best_stays(env: FakeEnv) -> None:
    safe = NeverWorse(TimeLimit(env, 2))
    safe.reset(benchmark="fake-v0/7")
    safe.step(ADD)
    *_, info = safe.step(NEGATE)
    assert "never_worse" not in info
    assert safe.actions == [ADD, NEGATE]


def test_an_episode_that_only_loses_ends_where_it_began(env: FakeEnv) -> None:
    safe = NeverWorse(TimeLimit(env, 2))
    safe.reset(benchmark="fake-v0/7")
    rewards = [safe.step(ADD)[1] for _ in range(2)]
    assert sum(rewards) == 0
    assert safe.actions == []
    assert safe.observation["number"] == 7


def test_a_failure_ends_in_the_best_state_too(make_env: Any) -> None:
    safe = NeverWorse(make_env(action_space="Behaviours"))
    safe.reset(benchmark="fake-v0/7")
    safe.step(NEGATE)
    observation, reward, _, truncated, info = safe.step(safe.action_space["segfault"])
    assert truncated
    assert info["error_type"] == "WorkerCrashedError"
    assert observation[0] == -7
    assert safe.episode_reward == 14
    assert reward == 0
    safe.reset(benchmark="fake-v0/7")
    assert safe.step(NEGATE)[1] == 14


def test_the_baseline_is_a_floor(env: FakeEnv) -> None:
    safe = NeverWorse(TimeLimit(env, 2), baseline=[DOUBLE, NEGATE])
    safe.reset(benchmark="fake-v0/7")
    assert safe.actions == []
    assert safe.step(NEGATE)[1] == 14
    observation, reward, *_ = safe.step(ADD)
    assert observation[0] == -14
    assert reward == 7
    assert safe.actions == [DOUBLE, NEGATE]
    useless = NeverWorse(TimeLimit(env, 1), baseline=[ADD])
    useless.reset(benchmark="fake-v0/7")
    assert useless.step(NOTHING)[0][0] == 7


def test_a_fork_has_its_own_best_state(env: FakeEnv) -> None:
    safe = NeverWorse(TimeLimit(env, 3))
    safe.reset(benchmark="fake-v0/7")
    safe.step(DOUBLE)
    with safe.fork() as fork:
        fork.step(NEGATE)
        assert fork.step(ADD)[0][0] == -14
    safe.step(ADD)
    assert safe.step(ADD)[0][0] == 7


def test_it_needs_one_reward(make_env: Any) -> None:
    with pytest.raises(InvalidParameterError, match="set a reward space"):
        NeverWorse(make_env(reward_space=None)).reset()
    safe = NeverWorse(make_env())
    safe.reset()
    with pytest.raises(InvalidParameterError, match="one reward"):
        safe.step(ADD, reward_spaces="number")


def test_no_process_stays_behind(env: FakeEnv) -> None:
    safe = NeverWorse(env)
    safe.reset()
    safe.step(NEGATE)
    both: list[Any] = [env, safe._best.env]  # pyright: ignore[reportPrivateUsage]  # no public name tells
    workers = [worker_pid(e) for e in both]
    assert None not in workers
    safe.close()
    assert wait_until(lambda: not any(is_running(pid) for pid in workers if pid))


def test_steps_that_were_undone_do_not_count(env: FakeEnv) -> None:
    best = NeverWorse(TimeLimit(ForkOnStep(env), 4))
    best.reset(benchmark="fake-v0/1")
    for _ in range(3):
        best.step(0)
        best.undo()
    *_, truncated, info = best.step(2)
    assert (best.actions, truncated, "never_worse" in info) == ([2], False, False)
    assert best.episode_reward == 2.0


def test_a_baseline_may_be_names(env: FakeEnv) -> None:
    best = NeverWorse(TimeLimit(env, 1), ["negate"])
    best.reset(benchmark="fake-v0/7")
    assert best.step(0)[4]["never_worse"] == 1
    assert best.actions == [2]


def test_actions_that_are_not_offered_may_be_the_best(env: FakeEnv) -> None:
    few = ConstrainedCommandline(MacroActions(env, {"m": [2, 3], "k": [3]}), ["m", "k"])
    best = NeverWorse(TimeLimit(few, 3))
    best.reset(benchmark="fake-v0/7")
    for action in (0, 1, 0):
        *_, truncated, info = best.step(action)
    assert truncated
    assert info["never_worse"] == 2
