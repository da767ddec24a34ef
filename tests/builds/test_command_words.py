# SPDX-License-Identifier: MIT
"""A recorded command line is one command, or it is refused."""

import shlex
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler_gym.builds.command_words import is_file_name, split_command, split_words
from compiler_gym.errors import InvalidActionError


@pytest.mark.parametrize(
    "text", ["opt -a\nrm -rf x", "opt\r-a", "opt \0", "opt \x1b[2J", "a\u2028b"]
)
def test_a_command_with_a_second_line_is_refused(text: str) -> None:
    with pytest.raises(InvalidActionError, match="remove line breaks and control characters"):
        split_command(text)


@pytest.mark.parametrize("text", [None, 7, ["a"], b"opt"])
def test_an_invalid_text_is_refused(text: object) -> None:
    with pytest.raises(InvalidActionError, match="expected a command line"):
        split_command(text)  # type: ignore[arg-type]  # that is the point


@pytest.mark.parametrize(
    "word", [";", "a;b", "&&", "|", ">x", "$(id)", "`id`", "-x", "", "a b", "#"]
)
def test_a_word_with_shell_syntax_is_not_a_file(word: str) -> None:
    assert not is_file_name(word)


@pytest.mark.parametrize("word", ["-", "input.bc", "/tmp/a-b_c/x.ll", "./a+b.bc"])
def test_files_have_plain_names(word: str) -> None:
    assert is_file_name(word)


@given(st.text(st.sampled_from("ab '\"\\\t\r\n#|\u2028"), max_size=20))
def test_words_are_those_of_shlex(text: str) -> None:
    def attempt(split: Callable[[str], list[str]]) -> list[str] | None:
        try:
            return split(text)
        except ValueError:
            return None

    assert attempt(split_words) == attempt(shlex.split)


@pytest.mark.parametrize("piece", ["(", "'('", '"("', "\\(", '"\\""', "a\\b"])
def test_a_long_word_is_copied_once(piece: str) -> None:
    """A mebibyte took `shlex` half a minute, which only a hang of the test's own limit passes."""
    text = piece * ((1 << 20) // len(piece))
    assert len(split_words(text)) == 1
