# SPDX-License-Identifier: MIT
"""What an observation changed by, in both directions, seen from the start or not."""

from statistics import median

import pytest

from compiler_gym.spaces.rewards import ChangeReward


@pytest.mark.parametrize(
    ("falls", "earned"), [(False, [0.5, 2.0, -0.5]), (True, [-0.5, -2.0, 0.5])]
)
def test_the_direction_is_chosen(falls: bool, earned: list[float]) -> None:
    reward = ChangeReward("change", "speed", deterministic=False, falls=falls)
    reward.reset("benchmark://demo/1", {})
    reward.start([2.0], {})
    assert [reward.update([0], [speed], {}) for speed in (2.5, 4.5, 4.0)] == earned


def test_an_unseen_value_is_requested_once() -> None:
    reward = ChangeReward("change", "speed", initial="first", deterministic=False)
    reward.reset("benchmark://demo/1", {})
    assert reward.update([0], [5.0], {"first": 2.0}) == 3
    assert reward.update([0], [6.0], {}) == 1


def test_the_first_earns_nothing_where_no_other_is_known() -> None:
    reward = ChangeReward("change", "speed", deterministic=False)
    reward.reset("benchmark://demo/1", {})
    assert reward.update([0], [5.0], {}) == 0


def test_a_reset_forgets_the_last_episode() -> None:
    reward = ChangeReward("change", "speed", deterministic=False)
    reward.start([100.0], {})
    reward.reset("benchmark://demo/1", {})
    assert reward.update([0], [5.0], {}) == 0


def test_a_list_becomes_the_number_that_is_chosen() -> None:
    reward = ChangeReward("saved", "times", deterministic=False, falls=True, number=median)
    reward.start([[9.0, 8.0, 12.0]], {})
    assert reward.update([0], [[3.0, 4.0, 4.0]], {}) == 5
