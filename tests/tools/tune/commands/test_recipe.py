# SPDX-License-Identifier: MIT
"""``compiler-gym recipe`` lists recipes, and prints one as a command to paste."""

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.command_line import Run

needs_lld = pytest.mark.skipif(
    not (shutil.which("clang-22") and shutil.which("ld.lld-22")), reason="needs clang-22 and lld-22"
)


def test_recipes_are_listed(cli: Run) -> None:
    shown = cli("recipe", COLUMNS="80").output
    assert "small" in shown
    assert "compiler-gym recipe show small" in shown
    assert max(map(len, shown.splitlines())) <= 80
    listed = cli("recipe", "--json").json["recipes"]
    assert [row["name"] for row in listed] == ["small", "small-packed"]
    assert {row["goal"] for row in listed} == {"size"}
    assert listed[0]["left_out"]["option enable-ipra=true"]


@needs_lld
def test_printed_commands_can_be_pasted(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text('#include <stdio.h>\nint main(void) { puts("hello"); }\n')
    shown = cli("recipe", "show", "small", COLUMNS="40").output
    assert shown.count("\n") == 1
    line = f"{shown.strip()} main.c -o main && ./main"
    assert subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True).stdout == b"hello\n"
    assert cli("recipe", "show", "small", "--json").json["command"] == shlex.split(shown)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("show",), "compiler-gym recipe show small"),
        (("show", "smal"), "did you mean small"),
        (("list", "small"), "compiler-gym recipe show small"),
        (("shwo",), "shwo"),
    ],
)
def test_a_missing_recipe_is_refused(cli: Run, words: tuple[str, ...], complaint: str) -> None:
    ran = cli("recipe", *words)
    assert ran.status == 2
    assert complaint in ran.errors
