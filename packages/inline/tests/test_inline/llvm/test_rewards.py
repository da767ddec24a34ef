# SPDX-License-Identifier: MIT
"""The rewards are those of the passes, and count from the program before its pipeline."""

from compiler_gym.envs.llvm.rewards import make_rewards
from compiler_gym.spaces import BaselineReward
from compiler_gym_inline.llvm.rewards import make_inline_rewards


def test_there_are_the_same_rewards_as_for_passes() -> None:
    assert [one.name for one in make_inline_rewards()] == [one.name for one in make_rewards()]


def test_savings_of_a_reset_are_part_of_the_first_reward() -> None:
    named = {reward.name: reward for reward in make_inline_rewards()}
    reward = named["IrInstructionCountOz"]
    assert isinstance(reward, BaselineReward)
    costs = {"IrInstructionCountInitial": 200, "IrInstructionCountOz": 150}
    reward.reset("benchmark://any/1", costs)
    reward.start([160], costs)
    assert reward.update([], [160], costs) == 0
    assert reward.update([], [160], costs) == 0
    assert reward.update([0], [160], costs) == 0.8
    assert reward.update([0], [160], costs) == 0
    assert reward.update([0], [150], costs) == 1.0 - 0.8
