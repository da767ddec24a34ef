# SPDX-License-Identifier: MIT
"""With a cache everything is as without it, except that sessions do less."""

import os
import signal
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import compiler_gym
from compiler_gym.datasets import Benchmark, RunSpec
from compiler_gym.errors import InvalidParameterError, ServiceIsClosed, UnknownNameError
from compiler_gym.service import LocalConnection, SessionSource, finish
from compiler_gym.service.caching import CachingConnection, TranspositionCache
from compiler_gym.service.messages import Start, Step
from compiler_gym.session import BenchmarkSpec
from compiler_gym.testing import FakeEnv, same
from compiler_gym.testing.fakes import BEHAVIOURS
from compiler_gym.vector import CompilerVectorEnv
from tests.effort import examples
from tests.service.caching.conftest import session_of

ACTIONS = {name: number for number, name in enumerate(BEHAVIOURS)}
HARMLESS = ("add", "double", "negate", "nothing", "end", "raise", "fatal")
SHARED = TranspositionCache()


def plain(result: Any) -> Any:
    """Return a step's result in a form that can be compared."""
    seen, reward, terminated, truncated, info = result
    kept = {k: str(v) for k, v in info.items() if k != "reproducer"}
    return seen, reward, terminated, truncated, sorted(kept.items())


def walk(env: Any, space: str, program: str, steps: list[Any]) -> list[Any]:
    """Return everything that can be seen of an episode."""
    env.action_space = space
    results: list[Any] = [env.reset(benchmark=program)]
    for kind, value in steps:
        if not env.in_episode:
            results.append(env.reset())
        if kind == "fork":
            with env.fork() as fork:
                results.append(plain(fork.multistep(value)))
                results.append(fork.actions)
        elif kind == "look":
            results.append({n: env.observation[n] for n in ("number", "digits", "vector", "json")})
        elif kind == "parameter":
            results.append(env.send_param("fake.add", "3"))
        elif kind == "other":
            results.append(plain(env.multistep(value, ["digits", "blob"], "number")))
        elif kind == "unavailable":
            results.append(plain(env.multistep(value, ["unavailable"])))
        else:
            results.append(plain(env.multistep(value)))
        results.append((env.actions, env.episode_reward, env.in_episode))
    return results


BEHAVIOUR = st.sampled_from([ACTIONS[name] for name in HARMLESS])
LISTS = st.lists(BEHAVIOUR, max_size=4)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("step"), st.lists(BEHAVIOUR, min_size=1, max_size=1)),
        st.tuples(
            st.sampled_from(["step", "fork", "look", "parameter", "other", "unavailable"]), LISTS
        ),
    ),
    max_size=8,
)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=list[Any](HealthCheck))
@given(st.integers(0, 3), STEPS, st.sampled_from(["process", "in-process"]), st.booleans())
def test_everything_is_as_without_a_cache(
    number: int, steps: list[Any], isolation: str, is_shared: bool
) -> None:
    arguments: dict[str, Any] = {
        "observation_space": "vector",
        "reward_space": "number",
        "isolation": isolation,
    }
    program = f"benchmark://fake-v0/{number}"
    cache = SHARED if is_shared else TranspositionCache()
    with FakeEnv(**arguments) as other, FakeEnv(**arguments, cache=cache) as cached:
        wanted = walk(other, "Behaviours", program, steps)
        assert same_results(walk(cached, "Behaviours", program, steps), wanted)
        assert same_results(walk(cached, "Behaviours", program, steps), wanted)


def same_results(left: Any, right: Any) -> bool:
    if {type(left), type(right)} <= {list, tuple}:
        return len(left) == len(right) and all(map(same_results, left, right))
    return same(left, right)


@settings(max_examples=examples(15), deadline=None, suppress_health_check=list[Any](HealthCheck))
@given(st.lists(st.integers(0, 3), max_size=5), st.sampled_from(["", "?menu=2"]))
def test_actions_that_change_on_the_way_are_as_without_a_cache(
    choices: list[int], query: str
) -> None:
    results: list[list[Any]] = []
    with (
        FakeEnv(reward_space="number", cache=SHARED) as cached,
        FakeEnv(reward_space="number") as other,
    ):
        for env in (cached, other, cached):
            env.action_space = "Menu"
            seen: list[Any] = [env.reset(benchmark=f"benchmark://fake-v0/4{query}")]
            for choice in choices:
                if env.in_episode and env.action_space.contains(choice):  # type: ignore[attr-defined]
                    seen.append(plain(env.step(choice)))
                    seen.append(str(env.action_space))
            results.append(seen)
    assert same_results(results[0], results[1])
    assert same_results(results[2], results[1])


def test_composite_actions_are_remembered(cache: TranspositionCache) -> None:
    with FakeEnv(action_space="Composite", observation_space="number", cache=cache) as env:
        env.reset(seed=3)
        actions = [env.action_space.sample() for _ in range(3)]
        wanted = [env.step(action)[0] for action in actions]
        env.reset()
        assert [env.step(action)[0] for action in actions] == wanted
        assert cache.statistics.hits == 3


def test_a_known_episode_needs_no_session(cache: TranspositionCache) -> None:
    arguments: dict[str, Any] = {
        "observation_space": "vector",
        "reward_space": "number",
        "cache": cache,
    }
    with FakeEnv(**arguments) as first, FakeEnv(**arguments) as second:
        for env in (first, second):
            env.reset(benchmark="benchmark://fake-v0/7")
            env.step(0)
            env.step(3)
            env.multistep([1, 2])
            assert env.observation["vector"][0] == -16
        assert session_of(first) is not None
        assert session_of(second) is None
        assert cache.statistics.hits == 4
        assert cache.statistics.misses == 4
        assert second.step(0)[0][0] == -15
        assert session_of(second) is not None


def test_actions_that_did_nothing_are_never_applied_again(cache: TranspositionCache) -> None:
    with FakeEnv(cache=cache) as env:
        for _ in range(2):
            env.reset(benchmark="benchmark://fake-v0/7")
            env.step(3)
            env.step(0)
            env.step(3)
        connection = env.episode.connection
        assert isinstance(connection, CachingConnection)
        assert connection.lazy.waiting == [0]


def test_other_programs_and_limits_are_other_states(cache: TranspositionCache) -> None:
    from compiler_gym.service import Limits

    for program, limits in (("7", None), ("7?x=1", None), ("7", Limits(growth=3.0)), ("8", None)):
        with FakeEnv(cache=cache, limits=limits) as env:
            env.reset(benchmark=f"benchmark://fake-v0/{program}")
            env.step(0)
    assert cache.statistics.hits == 0


def test_other_ways_to_run_and_other_addresses_are_other_states(cache: TranspositionCache) -> None:
    uris = ("benchmark://user-v0/a", "benchmark://user-v0/a", "benchmark://user-v0/b")
    runs = (RunSpec.single(("1",)), RunSpec.single(("50",)), None)
    with FakeEnv(cache=cache) as env:
        for uri, run in zip(uris, runs, strict=True):
            env.reset(benchmark=Benchmark(uri, b"7", run=run))
            env.step(0)
        assert cache.statistics.hits == 0
        env.reset(benchmark=Benchmark(uris[0], b"7", run=RunSpec.single(("1",))))
        env.step(0)
        assert cache.statistics.hits == 1


def test_a_crash_is_never_remembered(cache: TranspositionCache) -> None:
    with FakeEnv(action_space="Behaviours", cache=cache) as env:
        for _ in range(2):
            env.reset(benchmark="benchmark://fake-v0/7")
            env.step(0)
            *_, truncated, info = env.step(ACTIONS["segfault"])
            assert truncated
            assert info["error_type"] == "WorkerCrashedError"
            assert env.actions == [0, ACTIONS["segfault"]]


def test_a_session_lost_while_it_waits_is_an_ordinary_failure(cache: TranspositionCache) -> None:
    with FakeEnv(observation_space="number", reward_space="number", cache=cache) as env:
        env.reset(benchmark="benchmark://fake-v0/7")
        env.step(0)
        os.kill(session_of(env).pid, signal.SIGKILL)
        *_, truncated, info = env.step(1)
        assert truncated
        assert info["error_type"] == "WorkerCrashedError"
        assert env.reset()[0] == 7


@pytest.mark.parametrize("cores", [1, 8])
def test_vectors_share_a_cache(cores: int, set_cores: Callable[[int], None]) -> None:
    set_cores(cores)
    for mode in ("NextStep", "SameStep"):
        with TranspositionCache() as cache:
            arguments = {"observation_space": "vector", "reward_space": "number"}
            makers = [partial(FakeEnv, **arguments), partial(FakeEnv, **arguments, cache=cache)]
            vectors = [
                CompilerVectorEnv([make] * 3, autoreset_mode=mode, max_episode_steps=4)
                for make in makers
            ]
            try:
                generator = np.random.default_rng(2)
                assert same(*[v.reset(seed=1)[0] for v in vectors])
                for _ in range(40):
                    actions = generator.integers(0, 4, 3)
                    ours, theirs = (vector.step(actions) for vector in vectors)
                    assert all(map(same, ours[:4], theirs[:4]))
                assert cache.statistics.hit_rate > 0.3
            finally:
                for vector in vectors:
                    vector.close()


def test_a_request_that_was_interrupted_ends_the_episode(cache: TranspositionCache) -> None:
    connection = CachingConnection(
        partial(LocalConnection, SessionSource("compiler_gym.testing.fakes:FakeSession")),
        cache,
        key="number",
        steady=["number"],
        version="1",
    )
    start = Start(BenchmarkSpec("benchmark://fake-v0/7", b"7", {}, b""), None, [], {})
    connection.call(start)
    connection.call(Step([1], ["number"]))
    connection.call(start)
    connection.submit(Step([0], ["number"]))  # nobody gathers it
    with pytest.raises(ServiceIsClosed, match="interrupted"):
        connection.submit(Step([1], ["number"]))  # known before it
    assert not connection.is_open


class Recorded:
    """A session in this process that notes in `log` when it is asked and when it answers."""

    def __init__(self, name: str, log: list[tuple[str, str, int]]) -> None:
        self._name, self._log = name, log
        self._inner = LocalConnection(SessionSource("compiler_gym.testing.fakes:FakeSession"))
        self.is_open, self.channel = True, None

    def submit(self, request: Any, timeout: float | None = None, *, later: bool = False) -> None:
        self._log.append((self._name, "asked", len(getattr(request, "actions", ()))))
        self._inner.submit(request, timeout)

    def gather(self, timeout: float | None = None) -> Any:
        reply = self._inner.gather(timeout)
        self._log.append((self._name, "answered", getattr(reply, "applied", 0)))
        return reply

    def close(self) -> None:
        self._inner.close()


def test_sessions_catch_up_side_by_side(cache: TranspositionCache) -> None:
    log: list[tuple[str, str, int]] = []
    connections = [
        CachingConnection(
            cast(Any, partial(Recorded, name, log)),
            cache,
            key="number",
            steady=["number"],
            version="1",
        )
        for name in ("teacher", "one", "two")
    ]
    start = Start(BenchmarkSpec("benchmark://fake-v0/7", b"7", {}, b""), None, [], {})
    for connection in connections:
        connection.call(start)
        connection.call(Step([0], ["number"]))  # that of the first is learned, the others wait
    log.clear()
    for connection in connections[1:]:
        connection.submit(Step([1], ["number"]))
    finish(connections[1:])
    found = [connection.gather() for connection in connections[1:]]
    assert [getattr(reply, "observations", None) for reply in found] == [[16], [16]]
    asked = [(name, count) for name, what, count in log if what == "asked"]
    assert asked == [("one", 0), ("two", 0), ("one", 1), ("two", 1), ("one", 1), ("two", 1)]
    first_end = log.index(("one", "answered", 1), log.index(("one", "asked", 1)) + 2)
    assert log.index(("two", "asked", 1)) < first_end, "each was waited for alone"
    for connection in connections:
        connection.close()


def test_an_environment_without_a_hash_takes_no_cache(cache: TranspositionCache) -> None:
    class Nameless(FakeEnv):
        state_observation = None

    with pytest.raises(InvalidParameterError, match="no observation identifies"):
        Nameless(cache=cache)


def test_unknown_names_are_refused_as_ever(cache: TranspositionCache) -> None:
    with FakeEnv(cache=cache) as env:
        env.reset()
        with pytest.raises(UnknownNameError, match="no observation space"):
            _ = env.observation["nothing"]


def test_llvm_is_the_same_with_and_without(cache: TranspositionCache) -> None:
    arguments: dict[str, Any] = {
        "observation_space": "Autophase",
        "reward_space": "IrInstructionCountOz",
        "benchmark": "cbench-v1/crc32",
    }
    generator = np.random.default_rng(4)
    few = generator.integers(0, 123, 12)
    with (
        compiler_gym.make("llvm-v0", **arguments) as other,
        compiler_gym.make("llvm-v0", **arguments, cache=cache) as cached,
    ):
        for _ in range(25):
            other.reset()
            cached.reset()
            for action in generator.choice(few, 12):
                assert same_results(plain(cached.step(action)), plain(other.step(action)))
            assert cached.commandline() == other.commandline()
            with cached.fork() as fork:
                assert fork.observation["IrSha1"] == other.observation["IrSha1"]
    assert cache.statistics.hit_rate > 0.4


@pytest.mark.slow
def test_llvm_is_the_same_over_many_random_episodes() -> None:
    generator = np.random.default_rng(7)
    for program in ("qsort", "sha", "stringsearch", "bitcount"):
        arguments: dict[str, Any] = {
            "benchmark": f"cbench-v1/{program}",
            "reward_space": "IrInstructionCount",
        }
        with (
            TranspositionCache() as cache,
            compiler_gym.make("llvm-v0", **arguments) as other,
            compiler_gym.make("llvm-v0", **arguments, cache=cache) as cached,
        ):
            few = generator.integers(0, 123, 20)
            for _ in range(60):
                other.reset()
                cached.reset()
                actions = generator.choice(few, 25).tolist()
                results = [[plain(env.step(a)) for a in actions] for env in (cached, other)]
                assert same_results(results[0], results[1])
                assert cached.observation["IrSha1"] == other.observation["IrSha1"]


def test_nothing_is_believed_after_a_parameter(cache: TranspositionCache) -> None:
    with FakeEnv(observation_space="number", cache=cache) as env:
        env.reset(benchmark="benchmark://fake-v0/7")
        env.step(0)
        env.reset()
        env.send_param("fake.add", "3")
        assert env.observation["number"] == 10
        assert env.step(0)[0] == 11
