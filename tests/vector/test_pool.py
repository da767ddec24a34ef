# SPDX-License-Identifier: MIT
"""Whichever environment is done first comes back first."""

from typing import Any

import pytest

from compiler_gym.errors import InvalidActionError, InvalidParameterError, WorkerTimeoutError
from compiler_gym.service.caching import TranspositionCache
from compiler_gym.testing import FakeEnv, is_running, wait_until, worker_pid
from compiler_gym.testing.fakes import BEHAVIOURS
from compiler_gym.vector import StepPool
from compiler_gym.wrappers import TimeLimit

ACTIONS = {name: number for number, name in enumerate(BEHAVIOURS)}


@pytest.fixture
def envs(make_env: Any) -> list[FakeEnv]:
    made = [make_env(action_space="Behaviours", reward_space="number") for _ in range(3)]
    for env in made:
        env.reset(benchmark="benchmark://fake-v0/7")
    return made


def test_results_are_those_of_several_steps(envs: list[FakeEnv]) -> None:
    with StepPool() as pool:
        for number, env in enumerate(envs):
            pool.submit(env, [0] * (number + 1))
        assert len(pool) == 3
        rewards = {id(env): result[1] for env, result in pool.as_completed()}
        assert len(pool) == 0
    assert [rewards[id(env)] for env in envs] == [-1, -2, -3]
    assert [env.observation["number"] for env in envs] == [8, 9, 10]
    assert envs[2].actions == [0, 0, 0]


def test_more_may_be_submitted_while_results_come(envs: list[FakeEnv]) -> None:
    left = 5
    with StepPool() as pool:
        for env in envs:
            pool.submit(env, [0])
        for env, _ in pool.as_completed():
            if left:
                left -= 1
                pool.submit(env, [0])
    assert sum(env.observation["number"] - 7 for env in envs) == 8


def test_the_one_that_is_done_comes_first() -> None:
    envs = [FakeEnv(action_space="Behaviours") for _ in range(2)]
    for env in envs:
        env.reset()
    with StepPool() as pool, envs[0], envs[1]:
        pool.submit(envs[0], [ACTIONS["hang"]], timeout=0.5)
        pool.submit(envs[1], [0])
        assert pool.next()[0] is envs[1]
        env, result = pool.next()
        assert env is envs[0]
        assert isinstance(result[4]["error"], WorkerTimeoutError)
        envs[0].reset()
        assert envs[0].in_episode


def test_a_crash_is_a_result() -> None:
    with StepPool() as pool, FakeEnv(action_space="Behaviours") as env:
        env.reset()
        pool.submit(env, [ACTIONS["segfault"]])
        _, (_, _, _, truncated, info) = pool.next()
        assert truncated
        assert info["error_type"] == "WorkerCrashedError"


def test_invalid_requests_to_a_pool_are_refused(make_env: Any, envs: list[FakeEnv]) -> None:
    with StepPool() as pool:
        with pytest.raises(InvalidParameterError, match="call submit"):
            pool.next()
        with pytest.raises(InvalidActionError, match="99"):
            pool.submit(envs[0], [0, 99])
        with pytest.raises(InvalidParameterError, match="cannot step wrappers"):
            pool.submit(TimeLimit(envs[1], 3), [0])
        assert envs[0].actions == []


def test_a_busy_environment_is_refused() -> None:
    with StepPool() as pool, FakeEnv() as env:
        env.reset()
        pool.submit(env, [0])
        with pytest.raises(InvalidParameterError, match="is busy"):
            pool.submit(env, [0])
        pool.next()


def test_closing_ends_what_is_under_way() -> None:
    with FakeEnv(action_space="Behaviours") as env:
        env.reset()
        worker = worker_pid(env)
        assert worker is not None
        pool = StepPool()
        pool.submit(env, [ACTIONS["hang"]])
        pool.close()
        assert wait_until(lambda: not is_running(worker))
        env.reset()
        assert env.in_episode


def test_the_one_that_is_done_comes_first_with_a_cache_too() -> None:
    with (
        TranspositionCache() as cache,
        FakeEnv(action_space="Behaviours", observation_space="number", cache=cache) as teacher,
        FakeEnv(action_space="Behaviours", observation_space="number", cache=cache) as slow,
        FakeEnv(action_space="Behaviours", observation_space="number", cache=cache) as quick,
        FakeEnv(action_space="Behaviours", observation_space="number", cache=cache) as known,
        StepPool() as pool,
    ):
        for env in (teacher, slow, quick, known):
            env.reset(benchmark="benchmark://fake-v0/7")
            env.step(0)  # that of the first is learned, those of the others wait
        teacher.step(ACTIONS["double"])
        pool.submit(slow, [ACTIONS["hang"]], timeout=0.5)
        pool.submit(quick, [ACTIONS["negate"]])
        pool.submit(known, [ACTIONS["double"]])
        order = list(pool.as_completed())
        assert [env for env, _ in order] == [known, quick, slow]
        assert [result[0] for _, result in order] == [16, -8, 0]
        assert isinstance(order[2][1][4]["error"], WorkerTimeoutError)
        assert slow.reset()[0] == 7
