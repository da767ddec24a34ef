# SPDX-License-Identifier: MIT
"""Three answers, a letter each."""

from compiler_gym import _llvm
from compiler_gym.envs.llvm.inlining.actions import ACTION_SPACES, ANSWERS, LETTERS, LEVEL_OF
from compiler_gym.envs.llvm.session import GOALS
from compiler_gym.session import CommandlineSpec


def test_each_answer_has_a_name_a_letter_and_a_word_of_the_engine() -> None:
    (actions,) = ACTION_SPACES
    assert isinstance(actions.space, CommandlineSpec)
    assert [item.name for item in actions.space.items] == ["default", "inline", "no-inline"]
    assert len(LETTERS) == len(ANSWERS) == len(actions.space.items)
    assert len(set(LETTERS)) == len(LETTERS)
    assert all(hasattr(_llvm.InlineAnswer, name) for name in ANSWERS)


def test_every_goal_has_a_level() -> None:
    assert set(LEVEL_OF) == set(GOALS)
