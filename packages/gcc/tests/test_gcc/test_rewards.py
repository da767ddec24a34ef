# SPDX-License-Identifier: MIT
"""Every cost has its rewards, which observe what the table has."""

from compiler_gym.spaces import CostReward
from compiler_gym_gcc.observations import TABLE
from compiler_gym_gcc.rewards import make_rewards

SCALED = ("asm_size", "obj_size", "text_size", "runtime_instructions")


def test_the_names_are_those_that_clients_know() -> None:
    names = [reward.name for reward in make_rewards()]
    wanted = {"runtime_seconds"} | {
        f"{cost}{ending}" for cost in SCALED for ending in ("", "_norm", "_os", "_o2", "_o3")
    }
    assert set(names) == wanted
    assert len(names) == len(wanted)


def test_a_reward_is_as_certain_as_its_observation() -> None:
    for reward in make_rewards():
        assert isinstance(reward, CostReward)
        (cost,) = reward.observation_spaces
        assert reward.deterministic == TABLE[cost].deterministic
        assert reward.platform_dependent
        assert TABLE[reward.initial].level == "-O0"


def test_environments_share_no_reward() -> None:
    ours, theirs = make_rewards(), make_rewards()
    assert not any(one is other for one in ours for other in theirs)
