# SPDX-License-Identifier: MIT
"""No test that every machine runs is judged by how long the machine takes.

A bound on what a clock measured is there for hangs: it is at least `LEAST` seconds.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
CLOCKS = {"monotonic", "perf_counter", "process_time", "time"}
LEAST = 20.0


def hasty(source: str) -> Iterator[int]:
    """Yield the lines of `source` that bound what a clock measured from above, tightly.

    Tests that are marked as slow may; so may deadlines of property tests that are None.
    """
    for function in ast.parse(source).body:
        if _is_slow(function):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Compare) and _is_tight(node):
                yield node.lineno
            if isinstance(node, ast.keyword) and node.arg == "deadline" and _number(node.value):
                yield node.value.lineno


def _is_slow(node: ast.stmt) -> bool:
    return any(
        ast.unparse(one) == "pytest.mark.slow" for one in getattr(node, "decorator_list", ())
    )


def _is_tight(node: ast.Compare) -> bool:
    sides = [node.left, *node.comparators]
    for left, operator, right in zip(sides, node.ops, sides[1:], strict=False):
        if isinstance(operator, ast.Gt | ast.GtE):
            left, right = right, left
        elif not isinstance(operator, ast.Lt | ast.LtE):
            continue
        bound = _number(right)
        if bound is not None and bound < LEAST and _is_measured(left):
            return True
    return False


def _is_measured(node: ast.expr) -> bool:
    """Return whether it is the difference of a clock now and something before."""
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Sub)
        and any(
            isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] in CLOCKS
            for call in ast.walk(node.left)
        )
    )


def _number(node: ast.expr) -> float | None:
    value = node.value if isinstance(node, ast.Constant) else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def test_no_test_is_judged_by_the_clock() -> None:
    found = [
        f"{path.relative_to(TESTS)}:{line}"
        for path in sorted(TESTS.rglob("*.py"))
        for line in hasty(path.read_text(encoding="utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("def test():\n    assert time.monotonic() - began < 5", [2]),
        ("def test():\n    assert 0.3 <= perf_counter() - began <= 1.3", [2]),
        ("def test():\n    assert 5 > time.time() - began", [2]),
        ("def test():\n    while time.monotonic() - began < 5: pass", [2]),
        ("@settings(deadline=200)\ndef test(): ...", [1]),
        ("@settings(deadline=None)\ndef test(): ...", []),
        ("@pytest.mark.slow\ndef test():\n    assert time.monotonic() - began < 5", []),
        ("def test():\n    assert time.monotonic() - began < 60", []),
        ("def test():\n    assert time.monotonic() - began > 5", []),
        ("def test():\n    assert len(found) - 3 < 5", []),
    ],
)
def test_a_tight_bound_is_found(source: str, lines: list[int]) -> None:
    assert list(hasty(source)) == lines
