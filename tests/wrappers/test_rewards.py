# SPDX-License-Identifier: MIT
"""Rewards are changed, added up and measured in another way."""

import math
import os
import pickle
import signal
from typing import Any, cast

import numpy as np
import pytest

import compiler_gym
from compiler_gym.core import DerivedObservation
from compiler_gym.errors import InvalidParameterError
from compiler_gym.testing import FakeEnv, worker_pid
from compiler_gym.validation import ValidationError, ValidationResult
from compiler_gym.wrappers import (
    BestSavings,
    NeverWorse,
    NoEffectPenalty,
    RelativeSavings,
    RewardAtEnd,
    RuntimePointEstimateReward,
    TimeLimit,
    ValidateBenchmarkAfterEveryStep,
)

ADD, NEGATE, NOTHING = 0, 2, 3


def test_doing_nothing_costs_something(env: FakeEnv) -> None:
    strict = NoEffectPenalty(env, penalty=0.5)
    strict.reset()
    assert strict.step(NOTHING)[1] == -0.5
    assert strict.step(ADD)[1] == -1
    assert strict.multistep([])[1] == 0
    assert strict.multistep([NOTHING, ADD])[1] == -1
    assert strict.episode_reward == -2.5
    assert env.episode_reward == -2
    with pytest.raises(InvalidParameterError, match="penalty must be at least 0"):
        NoEffectPenalty(env, -1)


def test_a_penalty_needs_no_reward_space(make_env: Any) -> None:
    strict = NoEffectPenalty(make_env(reward_space=None))
    strict.reset()
    assert strict.step(NOTHING)[1] is None
    strict.reset(reward_space=["number"])
    assert strict.step(NOTHING)[1] == [-0.01]


def test_a_reward_at_the_end_is_that_of_the_whole_episode(env: FakeEnv) -> None:
    late = RewardAtEnd(TimeLimit(env, 3))
    late.reset()
    assert [late.step(ADD)[1] for _ in range(2)] == [0.0, 0.0]
    assert late.episode_reward == 0
    _, reward, _, truncated, _ = late.step(ADD)
    assert truncated
    assert reward == late.episode_reward == -3
    assert late.step(ADD, reward_spaces="number")[1] == -1
    late.reset()
    assert late.episode_reward == 0


def test_a_reward_at_the_end_needs_one(make_env: Any) -> None:
    late = RewardAtEnd(make_env(reward_space=None))
    late.reset()
    with pytest.raises(InvalidParameterError, match="RewardAtEnd needs a reward"):
        late.step(ADD)


def test_an_episode_that_crashed_earns_nothing_at_the_end(env: FakeEnv) -> None:
    late = RewardAtEnd(env)
    late.reset()
    late.step(ADD)
    pid = worker_pid(late)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    _, reward, _, truncated, _ = late.step(ADD)
    assert truncated
    assert reward == late.episode_reward == 0


def test_savings_are_relative_to_the_remaining_cost(make_env: Any) -> None:
    relative = RelativeSavings(make_env(reward_space=None), "number")
    relative.reset(benchmark="fake-v0/7")
    before = relative.observation["number"]
    assert relative.step(ADD)[1] == pytest.approx(math.log(before / (before + 1)))
    assert relative.step(NOTHING)[1] == 0
    assert relative.multistep([ADD, ADD])[1] == pytest.approx(math.log((before + 1) / (before + 3)))
    assert relative.episode_reward == pytest.approx(math.log(before / (before + 3)))
    with relative.fork() as fork:
        fork.step(ADD)
        assert fork.episode_reward == pytest.approx(math.log(before / (before + 4)))
    assert relative.episode_reward == pytest.approx(math.log(before / (before + 3)))
    state = relative.state
    relative.reset()
    assert relative.episode_reward == 0
    relative.apply(state)
    assert relative.step(ADD)[1] == pytest.approx(math.log((before + 3) / (before + 4)))
    rewarded = RelativeSavings(make_env(reward_space="number"), "number")
    rewarded.reset()
    assert rewarded.step(ADD, reward_spaces=["number"])[1] == [-1]
    with pytest.raises(InvalidParameterError, match="no observation 'size'"):
        RelativeSavings(make_env(), "size")


def test_only_the_best_state_of_an_episode_is_rewarded(make_env: Any) -> None:
    best = BestSavings(make_env(reward_space=None), "number")
    best.reset(benchmark="fake-v0/7")
    assert best.step(ADD)[1] == 0
    saved = best.step(NEGATE)[1]  # a cost below 1 counts as 1
    assert saved == pytest.approx(math.log(7))
    with best.fork() as fork:
        assert [fork.step(NEGATE)[1] for _ in range(2)] == [0, 0]
        assert fork.episode_reward == saved
    best.reset(benchmark="fake-v0/7")
    assert best.step(ADD)[1] == best.episode_reward == 0
    assert best.step(NEGATE)[1] == saved


def test_a_step_that_fails_saves_nothing(make_env: Any) -> None:
    with RelativeSavings(make_env(reward_space=None), "number") as relative:
        relative.reset(benchmark="fake-v0/7")
        saved = relative.step(ADD)[1]
        worker = worker_pid(relative.unwrapped)
        assert worker is not None
        os.kill(worker, signal.SIGKILL)
        _, reward, _, truncated, info = relative.step(ADD)
        assert (reward, truncated, info["error_type"]) == (0, True, "WorkerCrashedError")
        assert relative.episode_reward == saved < 0


def test_going_back_to_the_best_state_is_earned_too(make_env: Any) -> None:
    base = make_env(reward_space="number")
    with RelativeSavings(NeverWorse(TimeLimit(base, 2)), "number") as relative:
        relative.reset(benchmark="fake-v0/7")
        relative.step(ADD)
        relative.step(NOTHING)
        assert relative.observation["number"] == 7
        assert relative.episode_reward == pytest.approx(0)


class Suspicious(FakeEnv):
    """Finds programs above 8 broken."""

    def validate(self, state: Any = None) -> ValidationResult:
        broken = self.observation["number"] > 8
        errors = (ValidationError("it does something else"),) if broken else ()
        return ValidationResult(self.state, 0.0, errors=errors)


def test_a_broken_program_ends_the_episode_with_a_penalty() -> None:
    arguments: dict[str, Any] = {"reward_space": "number", "action_space": "Behaviours"}
    with ValidateBenchmarkAfterEveryStep(Suspicious(**arguments), reward_penalty=-9) as checked:
        checked.reset(benchmark="fake-v0/7")
        assert checked.step(ADD)[1:4] == (-1, False, False)
        _, reward, terminated, _, info = checked.step(ADD)
        assert (reward, terminated) == (-9, True)
        assert info["error_details"] == "it does something else"
        assert not info["validation"].okay()
        assert checked.episode_reward == -10
        checked.reset(benchmark="fake-v0/7")
        assert checked.step(checked.action_space["abort"])[3]


def test_an_llvm_program_is_validated_after_every_step() -> None:
    base = compiler_gym.make("llvm-ic-v0", benchmark="cbench-v1/crc32")
    with ValidateBenchmarkAfterEveryStep(base) as checked:
        checked.reset()
        _, reward, terminated, truncated, info = checked.step(checked.action_space["sroa"])
        assert (terminated, truncated) == (False, False), info
        assert reward > 0


def test_a_callback_ends_the_episode_of_a_checked_program() -> None:
    base = compiler_gym.make("llvm-ic-v0")
    program = base.datasets.benchmark("cbench-v1/crc32")
    program.add_validation_callback(lambda env: None)
    program.add_validation_callback(
        lambda env: ["shrunk"] if env.observation["IrInstructionCount"] < 100_000 else []
    )
    with ValidateBenchmarkAfterEveryStep(base, reward_penalty=-5) as checked:
        checked.reset(benchmark=program)
        _, reward, terminated, _, info = checked.step(checked.action_space["sroa"])
        assert (reward, terminated) == (-5, True)
        assert "shrunk" in info["error_details"]


class Timed(FakeEnv):
    """Runs as long as the number says."""

    runtime_observation_count = 1
    runtime_warmup_runs_count = 0

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        number = self.observation.spec("number")
        for derived in (
            DerivedObservation("Runtime", "number", self._times),
            DerivedObservation("IsRunnable", "number", lambda number: number < 100),
        ):
            self.observation.spaces[derived.id] = number.derive(derived)

    def _times(self, number: int) -> list[float]:
        return [float(number)] * (self.runtime_observation_count - 1) + [1e9]


def test_the_runtime_is_one_number_of_several() -> None:
    with RuntimePointEstimateReward(Timed(), runtime_count=3, warmup_count=2) as timed:
        inner = cast(Any, timed.unwrapped)
        assert inner.runtime_observation_count == 3
        assert inner.runtime_warmup_runs_count == 2
        timed.reset(benchmark="fake-v0/7")
        assert timed.step(ADD)[1] == -1
    with RuntimePointEstimateReward(Timed(), 3, estimator=cast(Any, np.max)) as timed:
        timed.reset()
        assert timed.step(ADD)[1] == 0


def test_an_environment_without_runtimes_is_refused(env: FakeEnv) -> None:
    with pytest.raises(InvalidParameterError, match="has no observation Runtime"):
        RuntimePointEstimateReward(env)


def test_a_pickle_goes_on_with_the_runtime_it_measured() -> None:
    base = compiler_gym.make("llvm-v0", benchmark="cbench-v1/crc32")
    with TimeLimit(RuntimePointEstimateReward(base, 2, warmup_count=1), 9) as timed:
        timed.reset()
        timed.step(timed.action_space["sroa"])
        with pickle.loads(pickle.dumps(timed)) as twin:
            assert twin.unwrapped.runtime_observation_count == 2
            assert twin.unwrapped.runtime_warmup_runs_count == 1
            assert (
                twin.reward_space.previous_runtime == cast(Any, timed.reward_space).previous_runtime
            )
            assert twin.step(twin.action_space["instcombine"])[2:4] == (False, False)
