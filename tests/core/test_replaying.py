# SPDX-License-Identifier: MIT
"""Records of episodes, and replays."""

import math
from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler_gym.core import CompilerEnvState, resume
from compiler_gym.core.replaying import History, read_actions
from compiler_gym.errors import UnknownNameError
from compiler_gym.testing import FakeEnv
from compiler_gym.wrappers import Counter, TimeLimit

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


ADD, DOUBLE = 0, 1
SEVEN = "benchmark://fake-v0/7"


def test_a_state_that_names_no_space_is_read_in_the_first_that_knows_its_actions() -> None:
    with FakeEnv() as env:
        selection, state = env.episode.selection, CompilerEnvState(SEVEN, "add segfault")
        actions = read_actions(state, selection, env.commandline_to_actions)
        assert selection.action_space_name == "Behaviours"
        assert env.action_space.to_string(actions) == "add segfault"


def test_a_state_of_no_space_leaves_the_chosen_one() -> None:
    with FakeEnv() as env:
        selection, before = env.episode.selection, env.action_space
        with pytest.raises(UnknownNameError, match="no action 'no'"):
            read_actions(CompilerEnvState(SEVEN, "no such"), selection, env.commandline_to_actions)
        assert env.action_space is before


def test_an_episode_goes_on_after_close_through_the_wrappers() -> None:
    with TimeLimit(Counter(FakeEnv()), 9) as env:
        resume(env)
        env.multistep([ADD, DOUBLE])
        env.close()
        resume(env)
        assert env.actions == [ADD, DOUBLE]
        assert env.elapsed_steps == 2
        resume(env)
        assert env.counters["reset"] == 2
