# SPDX-License-Identifier: MIT
"""A recorded state is reached again, and an episode that `close` ended goes on."""

import pytest

from compiler_gym.core import CompilerEnvState, resume
from compiler_gym.core.replaying import read_actions
from compiler_gym.errors import UnknownNameError
from compiler_gym.testing import FakeEnv
from compiler_gym.wrappers import Counter, TimeLimit

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
