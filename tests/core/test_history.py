# SPDX-License-Identifier: MIT
"""What was done and earned is added up, and a copy goes its own way."""

import math
from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler_gym.core.history import History

NUMBERS = st.floats(-1e6, 1e6)


def test_an_episode_begins_with_nothing_done_and_nothing_earned() -> None:
    history = History("Safe", "benchmark://fake-v0/7")
    assert (history.actions, history.reward, history.running) == ([], None, True)
    assert 0 <= history.walltime < 60
    other = History("Safe", "benchmark://fake-v0/7")
    assert other.actions is not history.actions


@settings(deadline=None)
@given(st.lists(st.none() | NUMBERS | st.lists(NUMBERS, max_size=3), max_size=8))
def test_all_that_is_earned_is_summed(earned: list[float | list[float] | None]) -> None:
    history = History("Safe", "benchmark://fake-v0/7")
    for one in earned:
        history.earn(one)
    numbers = [sum(one) if isinstance(one, list) else one for one in earned if one is not None]
    assert history.reward == (pytest.approx(math.fsum(numbers)) if numbers else None)


def test_no_reward_is_not_a_reward_of_nothing() -> None:
    history = History("Safe", "benchmark://fake-v0/7")
    history.earn(None)
    assert history.reward is None
    history.earn(0.0)
    assert history.reward == 0.0


def test_a_copy_has_everything_and_goes_its_own_way() -> None:
    history = History("Safe", "benchmark://fake-v0/7", [1, 2], 3.0, 12.5, False)
    twin = history.copy()
    for field in fields(History):
        assert getattr(twin, field.name) == getattr(history, field.name)
    twin.actions.append(3)
    twin.earn(1.0)
    twin.running = True
    assert (history.actions, history.reward, history.running) == ([1, 2], 3.0, False)
