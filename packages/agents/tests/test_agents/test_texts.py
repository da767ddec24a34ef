# SPDX-License-Identifier: MIT
"""Texts are cut into pages, and compared without the numbers of values."""

import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym_agents.texts import as_json, cut, difference, make_page


def test_every_line_is_on_one_page() -> None:
    lines = [f"line {number}" for number in range(100)]
    first, more = make_page(lines, 1, 200)
    assert more == "page 1 of 4; next: page=2"
    pages = [make_page(lines, number, 200)[0] for number in range(1, 5)]
    assert pages[0] == first
    assert "\n".join(pages).split("\n") == lines
    assert all(len(page) <= 200 for page in pages)
    assert make_page(lines, 4, 200)[1] == "page 4 of 4"
    assert make_page(["short"], 1, 200) == ("short", "")
    with pytest.raises(InvalidParameterError, match="no page 6; choose 1 to 4"):
        make_page(lines, 6, 200)


def test_a_long_line_is_cut_and_says_how_much_is_missing() -> None:
    assert make_page(["x" * 1000], 1, 500)[0] == "x" * 300 + "... (+700 characters)"
    assert cut("abc", 3) == "abc"


def test_another_number_of_a_value_is_not_a_difference() -> None:
    before = "define @f\n  %1 = add %0, 1\n  ret %1"
    assert difference(before, before.replace("%1", "%7")) == []
    assert difference(before, before.replace("add", "sub")) == [
        "@@ line 1 -> line 1 @@",
        " define @f",
        "-  %1 = add %0, 1",
        "+  %1 = sub %0, 1",
        "   ret %1",
    ]


def test_texts_that_are_too_long_to_be_compared_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match="too long to compare; name a function"):
        difference("\n" * 15_000, "\n" * 15_000)


def test_plain_values_are_json() -> None:
    assert as_json({"a": (1, "ü")}) == '{"a": [1, "ü"]}'
