# SPDX-License-Identifier: MIT
"""Results say what they are of: costs before, at each level and found."""

import pytest

import compiler_gym
from compiler_gym.cli.kit.costs import change, costs_of_episode, find_levels, number
from compiler_gym.testing import FakeEnv


def test_an_episode_is_measured_at_the_levels_of_its_reward() -> None:
    with compiler_gym.make("llvm-v0", benchmark="cbench-v1/crc32") as env:
        assert next(iter(find_levels(env, "IrInstructionCountO3"))) == "-O3"
        action = env.action_space["sroa"]
        costs = costs_of_episode(env, "cbench-v1/crc32", [action], "IrInstructionCountOz")
        assert costs is not None
        assert (costs.name, next(iter(costs.levels))) == ("IrInstructionCount", "-Oz")
        assert costs.levels["-Oz"] == env.observation["IrInstructionCountOz"]
        assert costs.found == env.observation["IrInstructionCount"]
        assert costs.before is not None
        assert costs.found is not None
        assert costs.found < costs.before
        assert costs.to_json()["levels"] == costs.levels


def test_a_reward_that_lowers_no_cost_has_none() -> None:
    with FakeEnv() as env:
        assert costs_of_episode(env, "benchmark://fake-v0/7", [0], "number") is None


@pytest.mark.parametrize(
    ("before", "after", "text"), [(200, 150, "-25.0%"), (0, 5, ""), (None, 5, ""), (5, None, "")]
)
def test_changes_are_reported_in_per_cent(before: float, after: float, text: str) -> None:
    assert change(before, after) == text
    assert number(1234567.0) == "1,234,567"
