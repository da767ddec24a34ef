# SPDX-License-Identifier: MIT
"""Rewards are what GFLOPS grew by, whoever saw the first."""

import compiler_gym_loop_tool as loop_tool
from compiler_gym_loop_tool import FLOPSReward
from compiler_gym_loop_tool.rewards import GainReward, make_rewards


def test_growth_counts_from_the_program_before_any_action() -> None:
    reward = next(reward for reward in make_rewards() if reward.name == "flops")
    reward.reset("benchmark://demo/1", {})
    assert reward.update([0], [5.0], {"flops_at_reset": 2.0}) == 3.0
    assert reward.update([0], [4.0], {}) == -1.0
    reward.reset("benchmark://demo/1", {})
    reward.start([3.0], {})
    assert reward.update([0], [5.0], {}) == 2.0


def test_a_gain_is_what_the_session_says() -> None:
    reward = GainReward("flops_gain", "flops_gain")
    assert reward.update([0], [1.5], {}) == 1.5
    assert reward.update([], [1.5], {}) == 0.0


def test_a_failure_takes_back_what_was_earned() -> None:
    assert all(reward.reward_on_error(2.5) == -2.5 for reward in make_rewards())


def test_the_reward_of_0_2_5_is_made_without_arguments() -> None:
    reward = FLOPSReward()
    assert reward.name == "flops"
    assert "FLOPSReward" in loop_tool.__all__
    reward.reset("benchmark://demo/1", {})
    reward.start([2.0], {})
    assert reward.update([0], [5.0], {}) == 3.0
