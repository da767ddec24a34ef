# SPDX-License-Identifier: MIT
"""No call has more arguments by position than a reader can tell apart, and no function too many."""

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "compiler_gym"
MOST = 6
MOST_PARAMETERS = 10
LONGER = {"core/env.py:__init__"}
"""What a user makes an environment of: each is a keyword of `make`."""
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


def long_functions(source: str) -> Iterator[str]:
    """Yield the names of functions in `source` with more than `MOST_PARAMETERS`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            named = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
            if len([one for one in named if one.arg not in ("self", "cls")]) > MOST_PARAMETERS:
                yield node.name


def test_no_function_has_more_than_ten_parameters() -> None:
    found = {
        f"{path.relative_to(PACKAGE)}:{name}"
        for path in PACKAGE.rglob("*.py")
        for name in long_functions(path.read_text("utf-8"))
    }
    assert found == LONGER, "make a record of what belongs together"


def test_a_long_function_is_seen() -> None:
    names = "a b c d e f g h i j".split()
    assert list(long_functions(f"def f(self, {', '.join(names)}, *, k): ..."))
    assert not list(long_functions(f"def f(self, {', '.join(names)}): ..."))
