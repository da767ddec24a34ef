# SPDX-License-Identifier: MIT
"""Rewards that are functions of what was seen before and what is seen now."""

import copy

import pytest

from compiler_gym.spaces import FunctionReward


def test_it_is_called_with_the_earlier_and_the_current_value() -> None:
    reward = FunctionReward("saved", "size", lambda before, now: before - now, max=9.0)
    reward.reset("benchmark://demo/1", {})
    reward.start([50], {})
    assert [reward.update([0], [size], {}) for size in (45, 47)] == [5.0, -2.0]
    assert (reward.observation_spaces, reward.range[1]) == (["size"], 9.0)


def test_without_a_start_the_first_time_earns_nothing() -> None:
    reward = FunctionReward("saved", "size", lambda before, now: before - now)
    reward.reset("benchmark://demo/1", {})
    assert [reward.update([0], [size], {}) for size in (45, 44)] == [0.0, 1.0]
    reward.reset("benchmark://demo/2", {})
    assert reward.update([0], [7], {}) == 0.0


def test_several_observations_come_as_lists() -> None:
    reward = FunctionReward("both", ["a", "b"], lambda before, now: sum(before) - sum(now))
    reward.start([4, 5], {})
    assert reward.update([0], [3, 5], {}) == 1.0


def test_a_copy_goes_on_with_its_own_numbers() -> None:
    reward = FunctionReward("saved", "size", lambda before, now: before - now)
    reward.start([50], {})
    twin = copy.deepcopy(reward)
    assert reward.update([0], [40], {}) == 10.0
    assert twin.update([0], [49], {}) == 1.0


def test_an_exception_of_the_function_is_not_hidden() -> None:
    reward = FunctionReward("share", "size", lambda before, now: before / now)
    reward.start([50], {})
    with pytest.raises(ZeroDivisionError, match="division"):
        reward.update([0], [0], {})
