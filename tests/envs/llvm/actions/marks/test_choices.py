# SPDX-License-Identifier: MIT
"""Marks have names and numbers that mean the same in every program."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler_gym import _llvm
from compiler_gym.envs.llvm.actions.marks.choices import (
    BLOCK,
    CHOICES,
    KINDS,
    Mark,
    mark_at,
    mark_named,
)
from compiler_gym.errors import UnknownNameError


def test_the_choices_are_those_of_the_engine() -> None:
    for number, kind in enumerate(KINDS):
        assert list(CHOICES[kind]) == _llvm.choice_names(number)


@given(st.integers(0, 10**6))
def test_numbers_and_names_go_both_ways(number: int) -> None:
    mark = mark_at(number)
    assert mark.number == number
    assert mark_named(str(mark)) == mark
    assert mark.id == number // BLOCK


def test_an_invalid_mark_is_none() -> None:
    for text in ("licm", "call:1", "call:-1=never", "call:01=never", "block:1=never", ""):
        assert mark_named(text) is None


def test_a_choice_that_does_not_exist_is_named() -> None:
    with pytest.raises(UnknownNameError, match="a call cannot be 'nevr': did you mean"):
        mark_named("call:1=nevr")
    assert Mark("call", 0, 0).point == "call:0"
