# SPDX-License-Identifier: MIT
"""The commands that make a binary again: its own words, and ours in the place of inputs."""

from pathlib import Path

import pytest

from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune.builds import Binary, Driver, find_binaries, run_command
from tests.tools.tune.builds.projects import record, write_project

DRIVER = Driver(
    ("cc",), ("c++",), ("-w",), ("-Wl,-O1",), left_out=("-flto", "-fuse-ld"), not_understood=("-Y",)
)


def program(tmp_path: Path, *variables: str) -> Binary:
    tree = write_project(tmp_path / "tree")
    recording = record(tree, tmp_path / "record", "make", *variables)
    return find_binaries(recording.events(), tree)[0]


def test_a_source_keeps_its_own_flags_and_ours_come_after_them(tmp_path: Path) -> None:
    binary = program(tmp_path, "CFLAGS=-O1 -DN=1 -w")
    words = DRIVER.compile_words(binary.units[0], ["-Os"], tmp_path / "x.o")
    assert words[:2] == ["cc", "-w"]
    assert words.index("-DN=1") < words.index("-Os") < words.index("main.c")
    assert words[-2:] == ["-o", str(tmp_path / "x.o")]


def test_a_link_keeps_the_order_of_its_words_less_what_is_left_out(tmp_path: Path) -> None:
    binary = program(tmp_path, "LDFLAGS=-fuse-ld=bfd -Wl,-O2")
    words = DRIVER.link_words(
        binary, lambda input: [f"<{input.word}>"], ["-Os"], tmp_path / "x", strip=False
    )
    assert words[:2] == ["cc", "-w"]
    assert [word for word in words if word[0] == "<"] == ["<main.o>", "<-ltwice>"]
    assert "-fuse-ld=bfd" not in words
    assert words.index("-Wl,-O1") < words.index("-Wl,-O2") < words.index("<main.o>")
    assert words[-2:] == ["-o", str(tmp_path / "x")]


def test_a_command_that_fails_says_what_it_said(tmp_path: Path) -> None:
    run_command(["true"], tmp_path)
    with pytest.raises(ProjectError, match=r"\(3\):\nno good"):
        run_command(["sh", "-c", "echo no good >&2; exit 3"], tmp_path)
    with pytest.raises(ProjectError, match="cannot run no-such-program"):
        run_command(["no-such-program"], tmp_path)
