# SPDX-License-Identifier: MIT
"""Rules are edited line by line, and texts that are not rules are refused."""

import pytest

from compiler_gym.errors import InvalidParameterError, UnknownNameError
from compiler_gym_inline.rules.llvm.rule import MOST_CHARACTERS, Rule, list_inputs


def test_a_line_replaces_its_decision_and_keeps_the_others() -> None:
    rule = Rule().edit("frame = calls > 1\ninline = default").edit("inline = cost < 5;")
    assert rule.text == "inline = cost < 5\nframe = calls > 1"
    assert rule.edit("inline=;frame=").text == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("inline", "is not a rule"),
        ("inlin = 1", "did you mean inline"),
        ("frame = 1\x00", "unprintable"),
        ("x" * (MOST_CHARACTERS + 1), "at most 65,536"),
    ],
)
def test_other_texts_are_refused(text: str, message: str) -> None:
    with pytest.raises((InvalidParameterError, UnknownNameError), match=message):
        Rule().edit(text)


def test_the_header_names_the_inputs_of_each_decision() -> None:
    assert list_inputs("inline")[:2] == ("default", "cost")
    assert list_inputs("order") == list_inputs("inline")[1:]
    assert "is_unprepared" in list_inputs("choose")
    assert list_inputs("frame") == list_inputs("choose")[: len(list_inputs("frame"))]
