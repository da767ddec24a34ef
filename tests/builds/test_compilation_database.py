# SPDX-License-Identifier: MIT
"""Each entry gives a name, a target and a command; one that cannot be read is said."""

import json
from pathlib import Path

import pytest

from compiler_gym.builds import read_database
from compiler_gym.errors import BenchmarkInitError


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
        ("a.c", "app"), ("b.c", "lib"), ("c.c", "all")
    ]  # fmt: skip
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
        7, None, [], "cc -c a.c", {}, {"file": 3, "command": "cc -c a.c"}, {"file": "a.c"},
        {"file": "a.c", "command": 3}, {"file": "a.c", "command": ["cc"]},
        {"file": "a.c", "arguments": "cc -c a.c"}, {"file": "a.c", "arguments": 3},
        {"file": "a.c", "arguments": ["cc", 3]}, {"file": "a.c", "arguments": []},
        {"file": "a.c", "arguments": ["cc\0", "-c"]}, {"file": "a.c", "arguments": {"cc": 1}},
        {"file": "a.c", "command": "cc -c a.c", "directory": 3},
        {"file": "a.c", "command": "cc -c a.c", "directory": "a\0"},
        {"file": "a.c", "command": "cc -c a.c", "output": []},
        {"file": "a.c", "command": "cc -c 'a.c"},
    ],
)  # fmt: skip
def test_an_odd_entry_is_named_and_the_others_are_read(tmp_path: Path, entry: object) -> None:
    path = tmp_path / "compile_commands.json"
    path.write_text(json.dumps([{"file": "b.c", "command": "cc -c b.c"}, entry]))
    failed: list[tuple[str, str]] = []
    assert [name for name, _, _ in read_database(path, failed)] == ["b.c"]
    assert len(failed) == 1
    with pytest.raises(BenchmarkInitError, match=r"compile_commands\.json: (entry 2|a\.c): ") as no:
        list(read_database(path))
    assert "Error(" not in str(no.value)
