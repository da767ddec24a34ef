# SPDX-License-Identifier: MIT
"""Rewards add up to where an episode ends."""

import math

from compiler_gym.envs.mlir.rewards import GainReward, LogSpeedupReward, make_rewards


def test_logarithms_add_up() -> None:
    reward = LogSpeedupReward("LogSpeedup", "RuntimeNaive")
    reward.reset("benchmark://demo/1", {"RuntimeNaive": 100.0})
    earned = [reward.update([0], [time], {}) for time in (50.0, 80.0, 10.0)]
    assert math.isclose(sum(earned), math.log(10))


def test_nothing_is_earned_without_a_baseline() -> None:
    reward = LogSpeedupReward("LogSpeedupNumpy", "RuntimeNumpy")
    reward.reset("benchmark://demo/1", {"RuntimeNumpy": 0.0})
    assert reward.update([0], [5.0], {}) == 0.0


def test_the_names_are_documented() -> None:
    names = {"LogSpeedup", "LogSpeedupNumpy", "Gflops", "PeakFraction", "runtime"}
    assert names <= {reward.name for reward in make_rewards()}
    assert GainReward("Gflops", "GflopsPerSecond").reward_on_error(3.0) == -3.0


def test_the_speed_up_of_an_episode_is_that_over_naive_code() -> None:
    reward = next(one for one in make_rewards() if one.name == "LogSpeedup")
    reward.reset("benchmark://demo/1", {})
    reward.start([math.log(100.0)], {"LogRuntimeNaive": math.log(100.0)})
    earned = [reward.update([0], [math.log(time)], {}) for time in (50.0, 80.0, 10.0)]
    assert math.isclose(sum(earned), math.log(10))
