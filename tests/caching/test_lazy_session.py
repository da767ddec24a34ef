# SPDX-License-Identifier: MIT
"""A session is opened, catches up and is copied late, and nobody can tell."""

import copy
import gc
import os
import pickle
import signal

import pytest

from caching.conftest import session_of
from compiler_gym.caching import TranspositionCache
from compiler_gym.caching.lazy_session import LazySession
from compiler_gym.testing import FakeEnv


def test_a_fork_of_a_lazy_episode_is_exact(cache: TranspositionCache) -> None:
    with FakeEnv(observation_space="number", cache=cache) as env:
        for _ in range(2):
            env.reset(benchmark="benchmark://fake-v0/7")
            env.multistep([0, 0])
        with env.fork() as fork, copy.deepcopy(env) as twin, pickle.loads(pickle.dumps(env)) as far:
            for other in (fork, twin, far):
                assert other.step(1)[0] == 18
        assert env.step(2)[0] == -9


def test_a_fork_copies_the_session_when_it_must_and_not_before(cache: TranspositionCache) -> None:
    with FakeEnv(observation_space="number", cache=cache) as env:
        env.reset(benchmark="benchmark://fake-v0/7")
        env.step(0)
        was_needed = []
        for _ in range(3):
            with env.fork() as fork:
                assert session_of(fork) is None
                assert fork.step(1)[0] == 16
                was_needed.append(session_of(fork) is not None)
        assert was_needed == [True, False, False]
        waiting, asking = env.fork(), env.fork()
        with waiting, asking:
            assert asking.step(2)[0] == -8
            assert session_of(asking).pid != session_of(env).pid
            assert session_of(waiting) is None
            assert env.step(0)[0] == 9
            assert session_of(waiting) is not None
            with waiting.fork() as grandchild:
                waiting.close()
                assert grandchild.step(0)[0] == 9
                assert grandchild.step(0)[0] == 10


def test_a_fork_outlives_what_it_would_have_copied(cache: TranspositionCache) -> None:
    for number, end in enumerate(("close", "reset", "crash"), start=5):
        with FakeEnv(observation_space="number", cache=cache) as env:
            env.reset(benchmark=f"benchmark://fake-v0/{number}")
            env.step(0)
            with env.fork() as fork:
                if end == "crash":
                    os.kill(session_of(env).pid, signal.SIGKILL)
                else:
                    getattr(env, end)()
                assert fork.observation["digits"] == str(number + 1)
                assert fork.multistep([1, 0])[0] == 2 * number + 3


def test_forks_that_nobody_has_may_be_collected_while_another_is_made(
    monkeypatch: pytest.MonkeyPatch, cache: TranspositionCache
) -> None:
    copy_of = LazySession.copy_of

    def collecting(self: LazySession, parent: LazySession) -> None:
        gc.collect()  # what is allocated here may start it at any time
        copy_of(self, parent)

    monkeypatch.setattr(LazySession, "copy_of", collecting)
    with FakeEnv(benchmark="benchmark://fake-v0/7", cache=cache) as env:
        env.reset()
        env.step(0)
        dropped, kept = env.fork(), env.fork()
        gc.disable()
        try:
            del dropped
            with kept:
                kept.step(1)
                assert kept.observation["number"] == 16
            env.step(2)
        finally:
            gc.enable()
        assert env.observation["number"] == -8
