# SPDX-License-Identifier: MIT
"""A build runs as it would, and every command that made something is written down."""

import os
from pathlib import Path

import pytest

from compiler_gym.errors import ProjectError
from tests.tools.tune.builds.projects import record, write_project


def test_every_compilation_is_written_down(tmp_path: Path) -> None:
    tree = write_project(tmp_path / "tree")
    recording = record(tree, tmp_path / "record", "make", "CFLAGS=-O1 -DN='a b'")
    events = list(recording.events())
    assert [list(event.made) for event in events] == [["main.o"], ["twice.o"], ["program"]]
    assert "-DN=a b" in events[0].words
    assert all(event.cwd == tree for event in events)
    assert "ar rc libtwice.a" in recording.log.read_text()


def test_a_compiler_by_its_name_is_seen_too(tmp_path: Path) -> None:
    tree = write_project(tmp_path / "tree")
    recording = record(tree, tmp_path / "record", "sh", "-c", "gcc main.c twice.c -o there")
    (event,) = recording.events()
    assert list(event.made) == ["there"]
    assert os.access(tree / "there", os.X_OK)


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read every folder")
def test_a_folder_on_path_that_cannot_be_read_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "closed" / "bin").mkdir(parents=True)
    (tmp_path / "closed").chmod(0)
    monkeypatch.setenv("PATH", str(tmp_path / "closed" / "bin"), prepend=os.pathsep)
    tree = write_project(tmp_path / "tree")
    assert list(record(tree, tmp_path / "record", "make").events())
    (tmp_path / "closed").chmod(0o700)


def test_a_compiler_of_any_version_on_path_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree, bin = write_project(tmp_path / "tree"), tmp_path / "bin"
    bin.mkdir()
    for name in ("gcc-99", "clang++-3.8"):
        (bin / name).write_text("#!/bin/sh\nexit 7\n")
        (bin / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(bin), prepend=os.pathsep)
    text = "gcc-99 -c main.c -o a.o && clang++-3.8 -x c++ -c main.c -o b.o"
    recording = record(tree, tmp_path / "record", "sh", "-c", text)
    assert [list(event.made) for event in recording.events()] == [["a.o"], ["b.o"]]


def test_commands_without_outputs_are_not_recorded(tmp_path: Path) -> None:
    tree = write_project(tmp_path / "tree")
    asks = "$CC --version && $CC -E main.c >/dev/null && ! $CC -c missing.c"
    recording = record(tree, tmp_path / "record", "sh", "-ec", asks)
    assert list(recording.events()) == []


def test_response_files_are_read_while_they_are_there(tmp_path: Path) -> None:
    tree = write_project(tmp_path / "tree")
    text = "echo '-c main.c' > words && $CC @words -o x.o && rm words"
    (event,) = record(tree, tmp_path / "record", "sh", "-c", text).events()
    assert event.words[1:] == ("-c", "main.c", "-o", "x.o")


def test_a_failed_build_says_what_it_printed(tmp_path: Path) -> None:
    tree = write_project(tmp_path / "tree")
    (tree / "twice.c").write_text("int twice(")
    with pytest.raises(ProjectError, match=r"(?s)status 2: make.*twice\.c.*build\.log"):
        record(tree, tmp_path / "record", "make")


def test_a_build_that_cannot_start_says_how_one_is_given(tmp_path: Path) -> None:
    tree = write_project(tmp_path / "tree")
    with pytest.raises(ProjectError, match="write the build command after `--`"):
        record(tree, tmp_path / "record", "no-such-build")
    with pytest.raises(ProjectError, match="no-such-cc not found on PATH"):
        record(tree, tmp_path / "record", "make", compiler=["no-such-cc"])
