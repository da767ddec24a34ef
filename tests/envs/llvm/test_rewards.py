# SPDX-License-Identifier: MIT
"""Rewards of costs and of measured speed."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler_gym.envs.llvm.rewards import SpeedupReward, buildtime_reward, make_rewards
from compiler_gym.spaces import RuntimeReward
from tests.envs.llvm.running_programs import HELLO, MakeEnv, program


def test_the_runtime_reward_works_on_real_runs(make_env: MakeEnv) -> None:
    env = make_env()
    env.runtime_observation_count = 2
    env.reward.add_space(RuntimeReward(2, 0, estimator=min))
    env.reset(benchmark=program(HELLO), reward_space="runtime")
    _, reward, _, truncated, info = env.step(env.action_space["sroa"])
    assert not truncated, info
    assert abs(reward) < 5


@pytest.mark.parametrize("name", ["TextSizeBytes", "TextSizeNorm", "TextSizeO3", "TextSizeOz"])
def test_smaller_programs_are_rewarded(make_env: MakeEnv, name: str) -> None:
    env = make_env(benchmark="cbench-v1/crc32", reward_space=name)
    env.reset()
    before = env.observation["TextSizeBytes"]
    actions = [env.action_space[n] for n in ("sroa", "instcombine", "simplifycfg")]
    _, reward, _, _, _ = env.multistep(actions)
    saved = before - env.observation["TextSizeBytes"]
    initial = before
    scale = {
        "TextSizeBytes": 1,
        "TextSizeNorm": initial,
        "TextSizeO3": max(initial - env.observation["TextSizeO3"], 1),
        "TextSizeOz": max(initial - env.observation["TextSizeOz"], 1),
    }[name]
    assert saved != 0
    assert reward == pytest.approx(saved / scale)


def test_an_uncertain_speedup_earns_nothing_unless_asked_to() -> None:
    unsure = {"speedup": 1.2, "low": 0.8, "high": 1.8}
    rewards = [SpeedupReward(significant_only=only) for only in (True, False)]
    for reward in rewards:
        reward.reset("benchmark://demo/1", {})
    first, second = (reward.update([0], [unsure], {}) for reward in rewards)
    assert (first, second) == (0.0, pytest.approx(math.log(1.2)))


def test_cycles_are_rewarded_against_the_program_at_reset_and_a_level(make_env: MakeEnv) -> None:
    env = make_env(benchmark="cbench-v1/sha", reward_space="McaCyclesO3")
    env.reset()
    start, best = env.observation["McaCyclesO0"], env.observation["McaCyclesO3"]
    assert start == env.observation["McaCycles"] > best
    earned = sum(float(env.step(env.action_space[name])[1]) for name in ("sroa", "early-cse"))
    saved = start - env.observation["McaCycles"]
    assert earned == pytest.approx(saved / (start - best))


COSTS = st.lists(st.floats(0.0, 1e6), min_size=1, max_size=8)


@given(COSTS)
def test_savings_add_up_and_the_first_look_earns_nothing(costs: list[float]) -> None:
    reward = buildtime_reward()
    reward.reset("benchmark://demo/1", {})
    total = sum(reward.update([0], [[cost]], {}) for cost in costs)
    assert total == pytest.approx(costs[0] - costs[-1], abs=1e-6)
    reward.reset("benchmark://demo/1", {})
    reward.start([[10.0]], {})
    assert reward.update([0], [4.0], {}) == 6.0


def test_a_significant_slowdown_has_a_negative_reward() -> None:
    reward = SpeedupReward()
    reward.reset("benchmark://demo/1", {})
    slower = {"speedup": 0.5, "low": 0.4, "high": 0.6}
    assert reward.update([0], [slower], {}) == pytest.approx(math.log(0.5))
    assert reward.update([0], [slower], {}) == 0.0
    unknown = {"speedup": 1.0, "low": 0.0, "high": 0.0}
    assert reward.update([0], [unknown], {}) == pytest.approx(-math.log(0.5))


def test_each_environment_gets_its_own_rewards() -> None:
    one, other = make_rewards(), make_rewards()
    assert [reward.name for reward in one] == [reward.name for reward in other]
    assert not {id(reward) for reward in one} & {id(reward) for reward in other}
    assert len({reward.name for reward in one}) == len(one)
