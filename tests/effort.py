# SPDX-License-Identifier: MIT
"""How much of a long test the fast set does, unless every test is asked for."""

import os
from collections.abc import Sequence
from typing import Any

import pytest

__all__ = ["examples", "in_turns"]

_IS_FULL = os.environ.get("TEST_EFFORT") == "full"


def examples(full: int) -> int:
    """Return how many examples to draw: `full` with ``TEST_EFFORT=full``, otherwise a third."""
    return full if _IS_FULL else -(-full // 3)


def in_turns(rows: Sequence[Any], columns: Sequence[Any]) -> list[Any]:
    """Return every pair of a row and a column as parameters, all but one of a row marked as slow.

    The rows take turns, so that the fast tests have each column as often.

    >>> [pair.values for pair in in_turns("abc", (1, 2)) if not pair.marks]
    [('a', 1), ('b', 2), ('c', 1)]
    """
    return [
        pytest.param(
            row, column, marks=() if (number - place) % len(columns) == 0 else pytest.mark.slow
        )
        for number, row in enumerate(rows)
        for place, column in enumerate(columns)
    ]
