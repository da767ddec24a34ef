# SPDX-License-Identifier: MIT
"""What is chosen is written as a command line, and read back from one."""

import pytest

from compiler_gym.errors import InvalidActionError
from compiler_gym_gcc import (
    GccFlagOption,
    GccOOption,
    GccParamIntOption,
    Option,
)
from compiler_gym_gcc.actions.options import ABSENT
from compiler_gym_gcc.state.settings import (
    CommandReader,
    Settings,
    check_choices,
    command_line,
    make_words,
)

OPTIONS: list[Option] = [
    GccOOption(("0", "1", "2", "s")),
    GccFlagOption("-fgcse"),
    GccFlagOption("-fno-threadsafe-statics"),
    GccParamIntOption("--param=large=", 0, 2**31 - 1, 450),
]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("gcc", []),
        ("gcc -O -fno-gcse", ["-O1", "-fno-gcse"]),
        ("-O2 -Os", ["-Os"]),
        ("/usr/bin/gcc-12 --param large=7 -w -std=c99 -c src.i -o obj.o", ["--param=large=7"]),
        ("gcc -fthreadsafe-statics -w -c src.ii -o obj.o", ["-fthreadsafe-statics"]),
    ],
)
def test_command_lines_are_read_as_the_compiler_reads_them(text: str, words: list[str]) -> None:
    choices, pending = CommandReader(OPTIONS).read(text)
    assert make_words(OPTIONS, choices) == words
    assert pending is None


@pytest.mark.parametrize(
    "text", ["gcc -fnone", "gcc 'unfinished", "gcc -O7", "gcc --param=large=-1"]
)
def test_command_lines_of_others_are_refused(text: str) -> None:
    with pytest.raises(InvalidActionError, match=r"is not a setting|is cut short"):
        CommandReader(OPTIONS).read(text)


def test_words_follow_the_choices_once_it_is_said_that_they_changed() -> None:
    settings = Settings(OPTIONS)
    assert settings.words == []
    settings.choices[1] = 1
    settings.reset_words()
    assert settings.words == ["-fno-gcse"]
    assert settings.words is settings.words


def test_a_level_alone_has_no_options() -> None:
    level = Settings.alone("-O2")
    assert (level.words, level.choices, level.pending) == (["-O2"], [], None)


@pytest.mark.parametrize(
    ("choices", "reason"),
    [
        ([0], "there must be 4 choices, one for each option .got 1"),
        ([0, 2, 0, 0], "the choice for -fgcse must be from -1 to 1 .got 2"),
        ([0, 0.5, 0, 0], "choices must be 4 whole numbers"),
    ],
)
def test_choices_that_are_none_are_refused(choices: list[int], reason: str) -> None:
    with pytest.raises(InvalidActionError, match=reason):
        check_choices(choices, OPTIONS)


def test_a_command_line_tells_settings_from_what_the_program_needs() -> None:
    text = command_line("gcc", ["-O2"], ["-std=c++17"], suffix=".ii", pending="-fgcse")
    assert text == "gcc -O2 -w -std=c++17 -c src.ii -o obj.o # choosing -fgcse"
    assert CommandReader(OPTIONS).read(text) == ([2, ABSENT, ABSENT, ABSENT], "-fgcse")
