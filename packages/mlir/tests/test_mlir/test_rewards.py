# SPDX-License-Identifier: MIT
"""Rewards add up to where an episode ends."""

import math

from compiler_gym.spaces import Reward
from compiler_gym_mlir.rewards import LogSpeedupReward, make_rewards


def test_logarithms_add_up() -> None:
    reward = LogSpeedupReward("LogSpeedup", "RuntimeNaive")
    reward.reset("benchmark://demo/1", {"RuntimeNaive": 100.0})
    earned = [reward.update([0], [time], {}) for time in (50.0, 80.0, 10.0)]
    assert math.isclose(sum(earned), math.log(10))


def test_nothing_is_earned_without_a_baseline() -> None:
    reward = LogSpeedupReward("LogSpeedupNumpy", "RuntimeNumpy")
    reward.reset("benchmark://demo/1", {"RuntimeNumpy": 0.0})
    assert reward.update([0], [5.0], {}) == 0.0


def test_an_episode_earns_minus_the_median_of_its_last_times() -> None:
    reward = _named("runtime")
    for _ in range(2):
        reward.reset("benchmark://demo/1", {})
        reward.start([[9.0, 8.0, 12.0]], {})
        assert reward.update([0], [[3.0, 4.0, 4.0]], {}) == -4.0
        assert reward.update([0], [[1.0, 9.0, 1.0]], {}) == 3.0


def test_the_names_are_documented() -> None:
    names = {"LogSpeedup", "LogSpeedupNumpy", "Gflops", "PeakFraction", "runtime"}
    assert names <= {reward.name for reward in make_rewards()}
    assert _named("Gflops").reward_on_error(3.0) == -3.0


def test_the_speed_up_of_an_episode_is_that_over_naive_code() -> None:
    reward = _named("LogSpeedup")
    reward.reset("benchmark://demo/1", {})
    reward.start([math.log(100.0)], {"LogRuntimeNaive": math.log(100.0)})
    earned = [reward.update([0], [math.log(time)], {}) for time in (50.0, 80.0, 10.0)]
    assert math.isclose(sum(earned), math.log(10))


def _named(name: str) -> Reward:
    return next(reward for reward in make_rewards() if reward.name == name)
