# SPDX-License-Identifier: MIT
"""Recorded times add up, from the user's call down to the compiler's passes."""

from collections.abc import Callable
from typing import Any

import gymnasium
import pytest

import compiler_gym
from compiler_gym.errors import InvalidActionError, InvalidParameterError, WorkerCrashedError
from compiler_gym.profiling import Layer, Profile, Span, profile
from compiler_gym.profiling.recording import TimedConnection
from compiler_gym.service.caching import TranspositionCache
from compiler_gym.service.messages import Step, Stepped
from compiler_gym.testing import FakeEnv


def test_requests_are_noted_with_what_the_worker_says_it_took() -> None:
    with FakeEnv(benchmark="fake-v0/5") as env:
        env.reset()
        inner = env.episode.connection
        assert inner is not None
        timed = TimedConnection(inner)
        assert isinstance(timed.call(Step([0], ["number"])), Stepped)
        (request,) = timed.requests
        assert request.served is not None
        assert 0 < request.served <= request.ended - request.began
        assert (timed.is_open, timed.apply) == (True, None)
        assert timed.channel is inner.channel


def test_a_request_that_fails_is_noted_too() -> None:
    with FakeEnv(benchmark="fake-v0/5", action_space="Behaviours") as env:
        env.reset()
        assert env.episode.connection is not None
        timed = TimedConnection(env.episode.connection)
        with pytest.raises(WorkerCrashedError, match="SIGSEGV"):
            timed.call(Step([env.action_space["segfault"]], []))
        assert timed.requests[0].served is None
        assert not timed.is_open


def test_in_this_process_an_action_needs_no_request() -> None:
    with FakeEnv(benchmark="fake-v0/5", isolation="in-process") as env:
        env.reset()
        assert env.episode.connection is not None
        timed = TimedConnection(env.episode.connection)
        assert timed.apply is not None
        assert timed.apply(0) is False
        assert len(timed.requests) == 1


Make = Callable[..., FakeEnv]
PASSES = ("sroa", "instcombine", "gvn", "simplifycfg", "gvn")


def check_sums(found: Profile) -> None:
    """Check that parts lie within their spans and that all of them are the whole."""
    for span in found.walk():
        inside = sum(part.nanoseconds for part in span.parts)
        assert inside <= span.nanoseconds, span
    summed = sum(found.layers().values())
    assert summed + found.other_nanoseconds == found.nanoseconds
    assert summed >= 0.95 * found.nanoseconds


def names_of(span: Span) -> set[str]:
    return {one.name for one in span.walk()}


def test_a_step_is_taken_apart_down_to_the_session(make_env: Make) -> None:
    env = make_env(observation_space="number", reward_space="number")
    found = profile(env, [0, 1, 0], benchmark="fake-v0/5")
    assert [span.name for span in found.spans if span.layer is Layer.PYTHON] == [
        "reset",
        f"step {env.action_space.names[0]}",
        f"step {env.action_space.names[1]}",
        f"step {env.action_space.names[0]}",
    ]
    assert found.error is None
    assert found.benchmark == "benchmark://fake-v0/5"
    assert {row.name: row.calls for row in found.rows(Layer.ACTIONS)} == {
        env.action_space.names[0]: 2,
        env.action_space.names[1]: 1,
    }
    assert found.rows(Layer.OBSERVATIONS)[0].name == "number"
    assert found.rows(Layer.RESET)
    check_sums(found)
    assert (Layer.TRANSPORT in found.layers()) == (env.isolation == "process")


def test_afterwards_the_environment_is_where_the_actions_led_and_is_timed_no_more(
    make_env: Make,
) -> None:
    env, plain = (make_env(benchmark="fake-v0/5", observation_space="number") for _ in range(2))
    profile(env, [0, 1])
    plain.reset()
    plain.multistep([0, 1])
    assert env.actions == [0, 1]
    assert type(env.episode.connection) is type(plain.episode.connection)
    assert env.step(1)[0] == plain.step(1)[0]
    assert env.send_param("service.times", "take") == "[]"


def test_a_fork_of_a_profiled_environment_is_not_timed(make_env: Make) -> None:
    env = make_env(benchmark="fake-v0/5", observation_space="number")
    profile(env, [0, 1])
    with env.fork() as fork:
        assert fork.step(1)[0] == env.step(1)[0]
        assert fork.send_param("service.times", "take") == "[]"


def test_a_profile_is_not_in_the_next_one(make_env: Make) -> None:
    env = make_env(benchmark="fake-v0/5")
    profile(env, [0, 1, 0, 1])
    again = profile(env, [0])
    assert sum(row.calls for row in again.rows(Layer.ACTIONS)) == 1
    assert "start a worker" not in {span.name for span in again.spans}  # there is one already


@pytest.mark.parametrize("failure", ["segfault", "exit", "exhaust_memory"])
def test_a_worker_that_is_lost_leaves_the_profile_so_far(failure: str) -> None:
    with FakeEnv(
        benchmark="fake-v0/5",
        action_space="Behaviours",
        limits=compiler_gym.service.Limits(memory_bytes=1 << 30),
    ) as env:
        names = ["add", "double", failure, "add"]
        found = profile(env, [env.action_space[name] for name in names])
        assert found.actions == ("add", "double", failure)
        assert type(found.error).__name__ in ("WorkerCrashedError", "WorkerOutOfMemoryError")
        assert {"add", "double"} <= {row.name for row in found.rows(Layer.ACTIONS)}
        assert f"{failure}: lost with its worker" in names_of(found.spans[-1])
        check_sums(found)
        env.reset()  # it is usable as ever
        assert env.step(0)[3] is False


@pytest.mark.parametrize("failure", ["raise", "fatal", "system_exit"])
def test_a_session_that_fails_leaves_the_profile_so_far(make_env: Make, failure: str) -> None:
    env = make_env(benchmark="fake-v0/5", action_space="Behaviours")
    found = profile(env, [env.action_space["add"], env.action_space[failure], 0])
    assert found.actions == ("add", failure)
    assert found.error is not None
    assert "add" in {row.name for row in found.rows(Layer.ACTIONS)}
    check_sums(found)


def test_an_episode_that_ends_by_itself_ends_the_profile(make_env: Make) -> None:
    env = make_env(benchmark="fake-v0/5", action_space="Behaviours")
    found = profile(env, [env.action_space["end"], 0, 0])
    assert (found.actions, found.error) == (("end",), None)


def test_processes_of_a_session_have_their_names(make_env: Make) -> None:
    found = profile(make_env(benchmark="fake-v0/5", observation_space="child"), [0])
    assert {row.name: row.calls for row in found.rows(Layer.PROCESSES)} == {"cat": 2}
    check_sums(found)


def test_unknown_actions_are_refused_before_anything_is_measured(make_env: Make) -> None:
    env = make_env(benchmark="fake-v0/5")
    with pytest.raises(InvalidActionError, match="1000"):
        profile(env, [0, 1000])
    assert env.actions == []
    assert env.send_param("fake.echo", "there") == "there"


def test_environments_without_profiling_are_refused() -> None:
    with (
        TranspositionCache() as cache,
        compiler_gym.make("llvm-v0", cache=cache) as env,
        pytest.raises(InvalidParameterError, match="make it without one"),
    ):
        profile(env, [0])
    with pytest.raises(InvalidParameterError, match=r"pass an environment of compiler_gym"):
        profile(gymnasium.make("CartPole-v1"), [0])


@pytest.mark.parametrize("isolation", ["process", "in-process"])
def test_passes_and_analyses_nest_and_add_up(isolation: Any) -> None:
    spaces: dict[str, Any] = {
        "observation_space": "Autophase",
        "reward_space": "IrInstructionCountOz",
    }
    with compiler_gym.make("llvm-v0", isolation=isolation, **spaces) as env:
        found = profile(env, [env.action_space[name] for name in PASSES], benchmark="cbench-v1/sha")
        state = env.observation["IrHash"]
    check_sums(found)
    passes = {row.name: row for row in found.rows(Layer.PASSES)}
    assert set(PASSES) <= passes.keys()
    functions = passes["sroa"].calls
    assert functions > 1
    assert passes["gvn"].calls == 2 * functions
    assert "domtree" in {row.name for row in found.rows(Layer.ANALYSES)}
    step = next(span for span in found.spans if span.name == "step gvn")
    (gvn,) = (span for span in step.walk() if span.name == "gvn" and span.layer is Layer.PASSES)
    assert "domtree" in names_of(gvn)
    assert all(span.name != "gvn" for span in gvn.parts)
    layers = found.layers()
    assert {Layer.DETECTION, Layer.ENGINE, Layer.OBSERVATIONS, Layer.RESET} <= layers.keys()
    assert layers[Layer.PASSES] + layers[Layer.ANALYSES] == sum(
        span.own_nanoseconds
        for span in found.walk()
        if span.layer in (Layer.PASSES, Layer.ANALYSES)
    )
    with compiler_gym.make("llvm-v0", benchmark="cbench-v1/sha") as plain:
        plain.reset()
        plain.multistep([plain.action_space[name] for name in PASSES])
        assert plain.observation["IrHash"] == state  # to look changes nothing


def test_rows_of_passes_are_all_the_time_in_passes_and_their_analyses() -> None:
    with compiler_gym.make("llvm-v0", action_space="Pipelines") as env:
        found = profile(env, [env.action_space["-O2"]], benchmark="cbench-v1/crc32")
    layers = found.layers()
    whole = layers[Layer.PASSES] + layers[Layer.ANALYSES]
    assert sum(row.nanoseconds for row in found.rows(Layer.PASSES)) == pytest.approx(
        whole, rel=0.02
    )
    check_sums(found)
