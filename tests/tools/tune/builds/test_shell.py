# SPDX-License-Identifier: MIT
"""A shell reads what was meant."""

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune.builds import build_asked, find_binaries, shell_text
from tests.tools.tune.builds.projects import record, write_project

TEXTS = st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), max_size=8)


@given(st.lists(st.lists(st.one_of(TEXTS, st.sampled_from(["/the/tree", "/out"])), max_size=4)))
def test_variables_stand_for_their_folders(parts: list[list[str]]) -> None:
    words = ["".join(pieces) for pieces in parts]
    command = shell_text(["printf", r"%s\0", *words], {"/the/tree": "ROOT", "/out": "OUT"})
    text = f'ROOT="/the/tree"; OUT=/out; {command}'
    printed = subprocess.run(["sh", "-c", text], capture_output=True, check=True).stdout
    assert printed.decode() == "".join(f"{word}\0" for word in words or [""])


def test_longer_names_are_not_cut() -> None:
    assert shell_text(["/a", "/ab", "/a/b"], {"/a": "A", "/a/b": "B"}) == '"$A" /ab "$B"'


def test_a_command_stands_for_itself(tmp_path: Path) -> None:
    assert build_asked(["make", "-j2"], tmp_path) == ("make", "-j2")


def test_sources_become_one_program(tmp_path: Path) -> None:
    tree = write_project(tmp_path / "tree")
    command = build_asked(["main.c", "twice.c", "-lm"], tree)
    recording = record(tree, tmp_path / "record", *command)
    (binary,) = find_binaries(recording.events(), tree)
    assert binary.name == "main"
    assert len(binary.units) == 2


@pytest.mark.parametrize("style", ["arguments", "command"])
def test_a_database_is_compiled_and_linked(tmp_path: Path, style: str) -> None:
    tree = write_project(tmp_path / "tree")
    (tree / "sub").mkdir()
    words = {
        name: ["gcc", "-DN='a b'", "-c", str(tree / name), "-o", f"{name}.o"]
        for name in ("main.c", "twice.c")
    }
    entries = [
        {"directory": str(tree / "sub"), "file": name}
        | ({"arguments": w} if style == "arguments" else {"command": subprocess.list2cmdline(w)})
        for name, w in words.items()
    ]
    (tree / "compile_commands.json").write_text(json.dumps(entries))
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-r", tree, copy], check=True)
    command = build_asked(["compile_commands.json", "-lm"], tree)
    recording = record(copy, tmp_path / "record", *command)
    (binary,) = find_binaries(recording.events(), copy)
    assert [binary.name_unit(unit) for unit in binary.units] == ["main.c", "twice.c"]
    assert binary.name == "program"
    assert not list(tree.rglob("*.o"))


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "[1]", '[{"file": "a.c"}]', "[[1]]", "[" * 100_000]
)
def test_an_invalid_database_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "compile_commands.json").write_text(text)
    with pytest.raises(ProjectError, match=r"compile_commands\.json"):
        build_asked(["compile_commands.json"], tmp_path)


def test_files_that_are_not_there_or_elsewhere_are_refused(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out.c").touch()
    with pytest.raises(ProjectError, match="no such file"):
        build_asked(["missing.c"], tmp_path)
    with pytest.raises(ProjectError, match="is outside"):
        build_asked(["../out.c"], tmp_path / "in")
    with pytest.raises(ProjectError, match="cannot read"):
        build_asked(["compile_commands.json"], tmp_path)
