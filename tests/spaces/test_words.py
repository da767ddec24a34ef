# SPDX-License-Identifier: MIT
"""Items with blanks in them are written one after another and found again."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler_gym.errors import InvalidActionError, UnknownNameError
from compiler_gym.spaces._words import Words

ITEM = st.lists(st.sampled_from("abcd"), min_size=1, max_size=3).map(" ".join)
ITEMS = st.lists(ITEM, min_size=1, max_size=6, unique=True)


@given(ITEMS, st.data())
def test_written_words_are_read_as_the_same_text(items: list[str], data: st.DataObject) -> None:
    words = Words(items, "flag")
    numbers = data.draw(st.lists(st.integers(0, len(items) - 1), max_size=5))
    text = " ".join(items[number] for number in numbers)
    found = words.find(text)
    assert " ".join(items[number] for number in found) == text


@given(ITEMS)
def test_every_item_has_its_number(items: list[str]) -> None:
    words = Words(items, "flag")
    assert [words.number(f" {item}  ") for item in items] == list(range(len(items)))


def test_the_item_of_most_words_wins_where_the_rest_can_be_read() -> None:
    words = Words(["a", "a b", "b c", "c"], "flag")
    assert words.find("a b c") == [1, 3]
    words = Words(["a", "a b", "b c"], "flag")
    assert words.find("a b c") == [0, 2]
    assert words.find("") == []


@pytest.mark.parametrize(
    ("text", "found"), [("x", "'x'"), ("a x a", "'x'"), ("a b", "'b'"), ("b c x", "'x'")]
)
def test_the_first_word_that_belongs_to_no_item_is_named(text: str, found: str) -> None:
    words = Words(["a", "b c"], "flag")
    with pytest.raises(UnknownNameError, match=rf"no flag {found}; "):
        words.find(text)


def test_a_close_name_is_proposed() -> None:
    words = Words(["-finline", "-fno-inline"], "flag")
    hint = r"no flag '-finlin'; did you mean '-finline' or '-fno-inline'\?"
    with pytest.raises(UnknownNameError, match=hint):
        words.number("-finlin")
    with pytest.raises(UnknownNameError, match="no flag 'x'; expected one of 2"):
        words.number("x")


@pytest.mark.parametrize("value", [None, 3, ["-a"], b"-a"])
def test_an_invalid_text_is_refused(value: Any) -> None:
    words = Words(["-a"], "flag")
    with pytest.raises(InvalidActionError, match="expected text, got"):
        words.find(value)
    with pytest.raises(UnknownNameError, match="expected one of 1"):
        words.number(value if not isinstance(value, bytes) else 3)  # type: ignore[arg-type]


def test_items_that_cannot_be_distinguished_are_refused() -> None:
    with pytest.raises(ValueError, match="each flag must be different: 'a  b' is there twice"):
        Words(["a b", "c", "a  b"], "flag")
    with pytest.raises(ValueError, match="at least one word: one is empty"):
        Words(["a", "  "], "flag")


def test_a_copy_is_the_same_object() -> None:
    words = Words(["a"], "flag")
    assert copy.deepcopy(words) is words
