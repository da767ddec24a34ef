# SPDX-License-Identifier: MIT
"""No call has more arguments by position than a reader can tell apart."""

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "compiler_gym"
MOST = 6
ROWS = {"add_row", "call", "pack", "table"}
"""What takes any number of values: the cells of a row, the numbers of a struct, what a function
of a C library is called with."""


def long_calls(source: str) -> Iterator[ast.Call]:
    """Yield the calls in `source` with more than `MOST` arguments by position."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        written = [one for one in node.args if not isinstance(one, ast.Starred)]
        if len(written) > MOST and name not in ROWS:
            yield node


def test_no_call_has_more_than_six_arguments_by_position() -> None:
    found = {
        f"{path.relative_to(PACKAGE)}:{call.lineno}"
        for path in PACKAGE.rglob("*.py")
        for call in long_calls(path.read_text("utf-8"))
    }
    assert not found, "give them names"


def test_a_long_call_is_seen() -> None:
    assert len(list(long_calls("f(1, 2, 3, 4, 5, 6, 7)\nf(1, 2, 3, 4, 5, 6, *a, b=7)"))) == 1
    assert not list(long_calls("rows.add_row(1, 2, 3, 4, 5, 6, 7)"))
