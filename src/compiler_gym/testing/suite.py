# SPDX-License-Identifier: MIT
# ruff: noqa: D102 - the name of a test is its documentation
"""Tests that every compiler must pass, over an environment.

They use random actions of the compiler's own spaces; crashes and hangs are caused from outside,
with signals to the worker. Subclass `SessionConformance` or `EnvironmentConformance`, not `Suite`.
"""

import copy
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, cast

import msgspec
import numpy as np
import pytest

from compiler_gym.core import CompilerEnv
from compiler_gym.errors import (
    InvalidActionError,
    InvalidParameterError,
    SessionNotFound,
    UnknownNameError,
    WorkerCrashedError,
    WorkerTimeoutError,
)
from compiler_gym.session import ActionSpaceSpec
from compiler_gym.testing.processes import (
    descendants,
    is_running,
    wait_until,
    worker_files,
    worker_pid,
)

_CLIENT = """
import os, pickle, sys, time
from compiler_gym.testing import descendants
env = pickle.load(sys.stdin.buffer)
env.reset()
env.step(env.action_space.sample())
fork = env.fork()
print(*descendants(os.getpid()), flush=True)
time.sleep(600)
"""


def same(left: Any, right: Any) -> bool:
    """Return True if two observations are equal; arrays are compared by value.

    >>> same({"a": np.array([1, 2])}, {"a": np.array([1, 2])})
    True
    """
    if isinstance(left, dict) and isinstance(right, dict):
        table = cast("dict[Any, Any]", left)
        other_table = cast("dict[Any, Any]", right)
        return table.keys() == other_table.keys() and all(
            same(table[key], other_table[key]) for key in table
        )
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        items = cast("Sequence[Any]", left)
        other_items = cast("Sequence[Any]", right)
        return len(items) == len(other_items) and all(map(same, items, other_items))
    return bool(np.array_equal(np.asarray(left), np.asarray(right)))


class Suite:
    """The tests. A subclass defines `make_env`."""

    steps: ClassVar[int] = 6
    """The number of random actions in an episode of these tests."""
    action_spaces: ClassVar[Sequence[str] | None] = None
    """The action spaces to test; None tests all."""
    observations: ClassVar[Sequence[str] | None] = None
    """The observations to compute at every step; None computes all."""
    parameters: ClassVar[Mapping[str, str]] = {}
    """Parameters of the session, each with a valid value."""

    def make_env(self, **arguments: Any) -> CompilerEnv:
        """Return a new environment; `arguments` are those of `CompilerEnv`."""
        raise NotImplementedError

    def reset(self, env: CompilerEnv) -> None:
        """Start an episode on the program of these tests."""
        env.reset()

    def test_the_compiler_describes_itself(self) -> None:
        with self.open() as env:
            assert env.compiler_version, "compiler_version is empty"
            assert env.episode.selection.action_specs, "there are no action spaces"
            names = list(env.observation)
            assert names, "there are no observation spaces"
            assert len(names) == len(set(names))

    def test_the_descriptions_survive_the_way_to_another_language(self) -> None:
        with self.open() as env:
            for spec in env.episode.selection.action_specs.values():
                data = msgspec.json.encode(spec)
                assert msgspec.json.decode(data, type=ActionSpaceSpec) == spec

    def test_every_action_space_contains_what_it_samples(self) -> None:
        with self.open() as env:
            for space in env.action_spaces:
                space.seed(1)
                for _ in range(20):
                    assert space.contains(space.sample())

    def test_every_default_is_in_its_observation_space(self) -> None:
        with self.open() as env:
            for name in env.observation:
                spec = env.observation.spec(name)
                assert spec.space.contains(spec.default_value), f"{name}: {spec.default_value!r}"

    def test_the_spaces_contain_every_observation(self) -> None:
        for env in self.each_action_space():
            for _ in self.walk(env, seed=1):
                for name, value in self.look(env, everything=True).items():
                    space = env.observation.spec(name).space
                    assert space.contains(value), f"{name}: {value!r} is not in {space!r}"

    def test_the_same_actions_give_the_same_observations(self) -> None:
        for env in self.each_action_space():
            first = [self.look(env) for _ in self.walk(env, seed=2)]
            second = [self.look(env) for _ in self.walk(env, seed=2)]
            assert same(first, second)

    def test_observing_changes_nothing(self) -> None:
        for env in self.each_action_space():
            observed = [self.look(env) for _ in self.walk(env, seed=3)][-1]
            for _ in self.walk(env, seed=3):
                pass
            assert same(self.look(env) if env.in_episode else observed, observed)

    def test_an_action_without_effect_changes_nothing(self) -> None:
        # Compare with an episode that observes only once, because observations are not computed
        # again after an action that claims to have no effect.
        with self.open() as reference:
            for env in self.each_action_space():
                before: dict[str, Any] = {}
                for number, info in enumerate(self.walk(env, seed=4)):
                    now = self.look(env)
                    if info.get("action_had_no_effect"):
                        claim = f"{env.actions[-1]!r} claims to have no effect"
                        reference.action_space = env.episode.selection.action_space_name
                        for _ in self.walk(reference, seed=4, steps=number):
                            pass
                        assert same(before, self.look(reference)), claim
                    before = now

    def test_several_actions_at_once_are_the_same_as_one_by_one(self) -> None:
        for env in self.each_action_space():
            singly = [self.look(env) for _ in self.walk(env, seed=5)][-1]
            if not env.in_episode or self.has_changed_space(env):
                continue  # then the actions cannot be replayed at once
            actions = self.taken
            self.reset(env)
            env.multistep(actions)
            assert same(self.look(env), singly)

    def test_a_reset_forgets_the_last_episode(self) -> None:
        for env in self.each_action_space():
            self.reset(env)
            fresh = self.look(env)
            for _ in self.walk(env, seed=6):
                pass
            self.reset(env)
            assert same(self.look(env), fresh)
            assert env.actions == []

    def test_an_action_outside_the_space_is_refused_and_harms_nothing(self) -> None:
        for env in self.each_action_space():
            self.reset(env)
            before = self.look(env)
            with pytest.raises(InvalidActionError, match="not an action"):
                env.step(object())
            assert same(self.look(env), before)

    def test_unknown_names_are_refused(self) -> None:
        with self.open() as env:
            self.reset(env)
            with pytest.raises(UnknownNameError, match="no observation space"):
                env.observation["no such observation"]
            with pytest.raises(UnknownNameError, match="no action space"):
                env.action_space = "no such action space"
            with pytest.raises(InvalidParameterError, match="no parameter"):
                env.send_param("no.such.parameter", "1")
            assert env.in_episode

    def test_parameters_are_answered_and_the_episode_goes_on(self) -> None:
        with self.open() as env:
            for _ in self.walk(env, seed=15, steps=1):
                pass
            if not env.in_episode:
                return
            before = self.look(env)
            replies = env.send_params(*self.parameters.items())
            assert all(isinstance(reply, str) for reply in replies)
            assert len(replies) == len(self.parameters)
            assert self.look(env).keys() == before.keys()
            for _ in self.go_on(env, seed=15, steps=1):
                pass

    def test_a_fork_is_exact_and_goes_its_own_way(self) -> None:
        for env in self.each_action_space():
            for _ in self.walk(env, seed=7, steps=self.steps // 2):
                pass
            if not env.in_episode:
                continue
            forked = None
            with env.fork() as fork:
                # Observe only after forking, because forks share earlier observations.
                before = self.look(fork)
                assert same(self.look(env), before)
                assert fork.actions == env.actions
                assert fork.action_space == env.action_space
                for _ in self.go_on(fork, seed=8):
                    pass
                assert same(self.look(env), before)
                forked = self.look(fork) if fork.in_episode else None
            for _ in self.go_on(env, seed=8):
                pass
            assert forked is None or same(self.look(env), forked)

    def test_a_fork_of_a_fork_outlives_both(self) -> None:
        with self.open() as env:
            for _ in self.walk(env, seed=9, steps=2):
                pass
            child = env.fork()  # before observing, because forks share earlier observations
            before = self.look(env)
            env.close()
            grandchild = child.fork()
            child.close()
            with grandchild:
                assert same(self.look(grandchild), before)
                for _ in self.go_on(grandchild, seed=9):
                    pass

    def test_a_deep_copy_is_a_fork_and_a_shallow_one_is_refused(self) -> None:
        with self.open() as env:
            for _ in self.walk(env, seed=10, steps=2):
                pass
            with copy.deepcopy(env) as twin:
                assert same(self.look(twin), self.look(env))
            with pytest.raises(TypeError, match="fork"):
                copy.copy(env)

    def test_a_pickle_replays_the_episode(self) -> None:
        for env in self.each_action_space():
            for _ in self.walk(env, seed=11, steps=2):
                pass
            if not env.in_episode:
                continue
            with pickle.loads(pickle.dumps(env)) as twin:
                assert same(self.look(twin), self.look(env))
                assert twin.actions == env.actions
                assert twin.action_space == env.action_space

    def test_an_environment_in_this_process_gives_the_same(self) -> None:
        with self.make_env() as env:
            if env.episode.sessions.source.command:
                pytest.skip("a program cannot run in this process")
        for env in self.each_action_space():
            isolated = [self.look(env) for _ in self.walk(env, seed=12)]
            with self.make_env(isolation="in-process") as local:
                local.action_space = env.episode.selection.action_space_name
                assert same([self.look(local) for _ in self.walk(local, seed=12)], isolated)

    def test_a_crash_ends_the_episode_and_the_next_reset_works(self) -> None:
        with self.open() as env:
            self.reset(env)
            fresh = self.look(env)
            os.kill(self.worker(env), signal.SIGSEGV)
            observation, _, terminated, truncated, info = env.step(env.action_space.sample())
            assert (terminated, truncated) == (False, True)
            assert isinstance(info["error"], WorkerCrashedError)
            assert info["error"].signal == signal.SIGSEGV
            if env.observation_space is not None:
                assert env.observation_space.contains(observation)
            assert not env.in_episode
            with pytest.raises(SessionNotFound, match="reset"):
                env.step(env.action_space.sample())
            self.reset(env)
            assert same(self.look(env), fresh)

    def test_a_hang_is_ended_at_its_deadline_and_the_next_reset_works(self) -> None:
        with self.open() as env:
            self.reset(env)
            stopped = self.worker(env)
            os.kill(stopped, signal.SIGSTOP)
            *_, truncated, info = env.step(env.action_space.sample(), timeout=0.2)
            assert truncated
            assert isinstance(info["error"], WorkerTimeoutError)
            assert wait_until(lambda: not is_running(stopped))
            self.reset(env)
            assert env.in_episode

    def test_closing_twice_is_fine_and_leaves_no_process_and_no_file(self) -> None:
        with self.open() as env:
            for _ in self.walk(env, seed=13, steps=2):
                self.look(env, everything=True)
            worker, forked = self.worker(env), env.fork()
            other_files = set(worker_files()) - {
                path for path in worker_files() if f"/{worker}-" in str(path)
            }
            fork_worker = worker_pid(forked)
            started = descendants(worker)
            for closing in (env, env, forked, forked):
                closing.close()
            assert wait_until(lambda: not is_running(worker))
            assert fork_worker is None or wait_until(lambda: not is_running(fork_worker))
            assert wait_until(lambda: not any(map(is_running, started)))
            assert wait_until(lambda: set(worker_files()) <= other_files), worker_files()
            self.reset(env)  # a closed environment may be used again

    def test_processes_of_a_worker_end_with_it(self) -> None:
        with self.open() as env:
            for _ in self.walk(env, seed=14):
                self.look(env, everything=True)
            worker = self.worker(env)
            started = {worker} | descendants(worker)
            os.kill(worker, signal.SIGKILL)
            assert wait_until(lambda: not any(map(is_running, started)))

    def test_a_killed_client_leaves_no_process_and_no_file(self) -> None:
        with self.open() as env:
            recipe = pickle.dumps(env)
        client = subprocess.Popen(
            [sys.executable, "-c", _CLIENT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        with client:
            assert client.stdin is not None
            assert client.stdout is not None
            client.stdin.write(recipe)
            client.stdin.close()
            started = [int(pid) for pid in client.stdout.readline().split()]
            assert started, "the client failed; see its output above"
            client.kill()
        assert wait_until(lambda: not any(map(is_running, started)))
        assert wait_until(lambda: not worker_files(client.pid)), worker_files(client.pid)

    @contextmanager
    def open(self) -> Generator[CompilerEnv]:
        """Yield an environment, and close it at the end."""
        env = self.make_env()
        try:
            yield env
        finally:
            env.close()

    def each_action_space(self) -> Iterator[CompilerEnv]:
        """Yield an environment once for each action space to test."""
        with self.open() as env:
            for name in self.action_spaces or list(env.episode.selection.action_specs):
                env.action_space = name
                yield env

    def walk(
        self, env: CompilerEnv, *, seed: int, steps: int | None = None
    ) -> Iterator[dict[str, Any]]:
        """Start an episode and yield an empty info, then the info of each random action."""
        self.reset(env)
        self.taken: list[Any] = []
        yield {}
        yield from self.go_on(env, seed=seed, steps=steps)

    def go_on(
        self, env: CompilerEnv, *, seed: int, steps: int | None = None
    ) -> Iterator[dict[str, Any]]:
        """Take random actions and yield their infos, until the episode ends."""
        space: Any = None
        for number in range(self.steps if steps is None else steps):
            if env.action_space is not space:
                space = env.action_space
                space.seed(seed + number)
            action = space.sample()
            self.taken.append(action)
            *_, terminated, truncated, info = env.step(action)
            assert not truncated, f"{action!r}: {info.get('error')!r}"
            if terminated:
                return
            yield info

    def look(self, env: CompilerEnv, *, everything: bool = False) -> dict[str, Any]:
        """Return the deterministic observations of `env`, or all."""
        names = self.observations or list(env.observation)
        specs = [env.observation.spec(name) for name in names]
        return {
            spec.id: env.observation[spec.id] for spec in specs if everything or spec.deterministic
        }

    def has_changed_space(self, env: CompilerEnv) -> bool:
        """Return True if the episode has replaced the action space."""
        return env.action_space != env.episode.selection.action_space_named(
            env.episode.selection.action_space_name
        )

    def worker(self, env: CompilerEnv) -> int:
        """Return the process ID of the worker of `env`."""
        pid = worker_pid(env)
        assert pid is not None, "the environment has no worker"
        return pid
