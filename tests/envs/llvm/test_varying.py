# SPDX-License-Identifier: MIT
"""Passes whose runs differ: marked, applied every time, and never promised to replay."""

from dataclasses import replace

import pytest

import compiler_gym
from compiler_gym.core import CompilerEnv, CompilerEnvState
from compiler_gym.envs.llvm.actions import ACTION_SPACES, VARYING
from compiler_gym.service.caching import TranspositionCache
from compiler_gym.session import CommandlineSpec
from compiler_gym.validation import Verdict, climb
from scripts.repeatability import FAILED, spread

WALK = ("mem2reg", "newgvn", "dce")


def make_env(cache: TranspositionCache | None = None) -> CompilerEnv:
    return compiler_gym.make(
        "llvm-v0",
        action_space="PassesAll",
        reward_space="IrInstructionCount",
        benchmark="cbench-v1/crc32",
        cache=cache,
    )


def step(env: CompilerEnv, *names: str) -> None:
    for name in names:
        env.step(env.action_space[name])


def test_varying_observations_are_only_marked_with_varying_actions() -> None:
    assert {"newgvn", "gvn-hoist"} <= set(VARYING)
    for spec in ACTION_SPACES:
        if not isinstance(spec.space, CommandlineSpec):
            assert not spec.varying
            continue
        found = {spec.space.items[number].name for number in spec.varying}
        assert found == (set(VARYING) if spec.name == "PassesAll" else set())


def test_a_cache_learns_nothing_of_an_action_that_varies() -> None:
    with make_env(TranspositionCache()) as env:
        assert env.cache is not None
        for _ in range(3):
            env.reset()
            step(env, *WALK)
            env.reset()
            env.multistep([env.action_space[name] for name in WALK])
        assert env.cache.statistics.misses >= 6  # once each time, whatever else was known
        before = env.cache.statistics
        env.reset()
        step(env, "mem2reg")
        assert env.cache.statistics.hits == before.hits + 1
        step(env, "newgvn")
        assert env.cache.statistics.misses == before.misses + 1


def test_an_older_file_that_knows_an_action_that_varies_is_not_asked() -> None:
    class Knowing(TranspositionCache):
        asked: list[object]

        def follow(self, state, actions):  # type: ignore[no-untyped-def]
            self.asked = [*getattr(self, "asked", []), *actions]
            return super().follow(state, actions)

    with make_env(Knowing()) as env:
        env.reset()
        step(env, *WALK)
        assert isinstance(env.cache, Knowing)
        assert env.action_space["newgvn"] not in env.cache.asked


def test_a_fork_of_a_cached_episode_holds_the_program_that_was_made() -> None:
    with make_env(TranspositionCache()) as env:
        env.reset()
        step(env, *WALK)
        with env.fork() as fork:
            assert fork.state.state_hash == env.state.state_hash
            assert fork.observation["Ir"] == env.observation["Ir"]
            assert fork.state.varying_actions == ("newgvn",)


def test_a_state_says_so() -> None:
    with make_env() as env:
        env.reset()
        step(env, "mem2reg")
        assert env.state.is_repeatable
        assert env.state.varying_actions is None
        step(env, "newgvn", "newgvn")
        state = env.state
        assert not state.is_repeatable
        assert state.varying_actions == ("newgvn",)
        assert CompilerEnvState(**state.dict()).varying_actions == ("newgvn",)
        env.reset()
        assert env.state.is_repeatable


@pytest.mark.parametrize("wrong", ["ok", "hash"])
def test_validation_promises_no_replay_of_it(wrong: str) -> None:
    with make_env() as env:
        env.reset()
        step(env, *WALK)
        state = env.state
    if wrong == "hash":
        state = replace(state, state_hash="0" * 32)
    (rung,) = climb(state, make_env).rungs
    assert "newgvn" in rung.reason or rung.verdict is Verdict.OK
    if wrong == "hash":
        assert rung.verdict is Verdict.UNKNOWN
        assert "a replay may differ" in rung.reason


def test_a_wrong_state_without_such_an_action_is_still_wrong() -> None:
    with make_env() as env:
        env.reset()
        step(env, "mem2reg")
        state = replace(env.state, state_hash="0" * 32)
    assert not climb(state, make_env).okay()


def test_the_measurement_counts_results_and_no_crashes() -> None:
    rows = [("a 1", "dce", "x"), ("a 1", "dce", "x"), ("a 1", "gvn", "x"), ("a 1", "gvn", "y")]
    found = spread([*rows, ("a 1", "dce", FAILED)])
    assert list(found["dce"]["a 1"].values()) == [2]
    assert len(found["gvn"]["a 1"]) == 2
