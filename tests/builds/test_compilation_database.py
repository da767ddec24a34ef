# SPDX-License-Identifier: MIT
"""A project's recorded commands are read, and split into arguments without a shell."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler_gym.builds import read_database
from compiler_gym.builds.compilation_database import is_file_name, split_command, split_words
from compiler_gym.errors import BenchmarkInitError, InvalidActionError


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


def test_entries_give_names_targets_and_commands(tmp_path: Path) -> None:
    path = tmp_path / "compile_commands.json"
    entries = [
        {"file": "a.c", "command": "cc -c a.c -o CMakeFiles/app.dir/a.c.o", "directory": "sub"},
        {"file": "b.c", "arguments": ["cc", "-c", "b.c"], "output": "CMakeFiles/lib.dir/b.c.o"},
        {"file": "c.c", "arguments": ["cc", "-c", "c.c"]},
    ]
    path.write_text(json.dumps(entries))
    found = list(read_database(path))
    assert [(name, target) for name, target, _ in found] == [
        ("a.c", "app"),
        ("b.c", "lib"),
        ("c.c", "all"),
    ]
    assert [command.cwd for _, _, command in found] == [tmp_path / "sub", tmp_path, tmp_path]


def test_a_command_that_cannot_be_read_is_named_with_its_file(tmp_path: Path) -> None:
    path = tmp_path / "compile_commands.json"
    path.write_text('[{"file": "a.c", "command": ""}, {"file": "b.c", "command": "cc -c b.c"}]')
    failed: list[tuple[str, str]] = []
    assert [name for name, _, _ in read_database(path, failed)] == ["b.c"]
    assert [name for name, _ in failed] == ["a.c"]
    with pytest.raises(
        BenchmarkInitError, match=r"compile_commands\.json: a\.c: the compiler command is empty"
    ):
        list(read_database(path))


@pytest.mark.parametrize(
    "entry",
    [
        7,
        None,
        [],
        "cc -c a.c",
        {},
        {"file": 3, "command": "cc -c a.c"},
        {"file": "a.c"},
        {"file": "a.c", "command": 3},
        {"file": "a.c", "command": ["cc"]},
        {"file": "a.c", "arguments": "cc -c a.c"},
        {"file": "a.c", "arguments": 3},
        {"file": "a.c", "arguments": ["cc", 3]},
        {"file": "a.c", "arguments": []},
        {"file": "a.c", "arguments": ["cc\0", "-c"]},
        {"file": "a.c", "arguments": {"cc": 1}},
        {"file": "a.c", "command": "cc -c a.c", "directory": 3},
        {"file": "a.c", "command": "cc -c a.c", "directory": "a\0"},
        {"file": "a.c", "command": "cc -c a.c", "output": []},
        {"file": "a.c", "command": "cc -c 'a.c"},
    ],
)
def test_an_odd_entry_is_named_and_the_others_are_read(tmp_path: Path, entry: object) -> None:
    path = tmp_path / "compile_commands.json"
    path.write_text(json.dumps([{"file": "b.c", "command": "cc -c b.c"}, entry]))
    failed: list[tuple[str, str]] = []
    assert [name for name, _, _ in read_database(path, failed)] == ["b.c"]
    assert len(failed) == 1
    with pytest.raises(BenchmarkInitError, match=r"compile_commands\.json: (entry 2|a\.c): ") as no:
        list(read_database(path))
    assert "Error(" not in str(no.value)
