# SPDX-License-Identifier: MIT
"""Rewards add up to where an episode ends."""

import math

from compiler_gym.envs.mlir.rewards import GflopsReward, LogSpeedupReward, make_rewards


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
    assert {"LogSpeedup", "Gflops", "runtime"} <= {reward.name for reward in make_rewards()}
    assert GflopsReward().reward_on_error(3.0) == -3.0
