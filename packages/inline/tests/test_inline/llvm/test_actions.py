# SPDX-License-Identifier: MIT
"""Three answers and the rest, a letter each."""

import pytest

from compiler_gym import _llvm
from compiler_gym.envs.llvm.session import GOALS
from compiler_gym.session import CommandlineSpec
from compiler_gym_inline.llvm.actions import (
    ACTION_SPACES,
    ANSWERS,
    LETTERS,
    LEVEL_OF,
    REST,
)

ASKING = b"""target triple = "x86_64-pc-linux-gnu"
declare i32 @outside(i32)
define i32 @callee(i32 %n) {
  %r = call i32 @outside(i32 %n)
  ret i32 %r
}
define i32 @main(i32 %n) {
  %a = call i32 @callee(i32 %n)
  %b = call i32 @callee(i32 %a)
  %c = call i32 @callee(i32 %b)
  ret i32 %c
}
"""
"""A program whose inliner has three questions."""


def test_each_answer_has_a_name_a_letter_and_a_word_of_the_engine() -> None:
    actions, with_rest = (spec.space for spec in ACTION_SPACES)
    assert isinstance(actions, CommandlineSpec)
    assert isinstance(with_rest, CommandlineSpec)
    assert ANSWERS == ("default", "inline", "no-inline")
    assert tuple(item.name for item in actions.items) == ANSWERS
    assert tuple(item.name for item in with_rest.items) == (*ANSWERS, REST)
    assert "".join(item.flag for item in with_rest.items) == LETTERS
    assert len(set(LETTERS)) == len(LETTERS)


def test_the_engine_knows_every_answer_and_no_other() -> None:
    module = _llvm.Module(ASKING)
    inlining = _llvm.Inlining(module, "Oz")
    with pytest.raises(ValueError, match="use the answer default, inline or no-inline"):
        inlining.answer("perhaps")
    for name in ANSWERS:
        assert not inlining.is_over
        inlining.answer(name)
    assert inlining.is_over


def test_every_goal_has_a_level() -> None:
    assert set(LEVEL_OF) == set(GOALS)
