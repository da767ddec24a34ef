# SPDX-License-Identifier: MIT
"""Conversion of errors to records."""

import re

from compiler_gym.errors import ExplorerError
from compiler_gym_explorer.records import Problem

__all__ = ["make_problem"]

_EXPECTED = re.compile(
    r"\b(?:expected|must be) (.+?)(?=, (?:found|got) | \(got |[;:] |$)", re.DOTALL
)
_FOUND = re.compile(r"\b(?:found|got) (.+?)(?=, expected |\)|[;:] |$)", re.DOTALL)
_MOST_LETTERS = 20_000


def make_problem(error: Exception) -> Problem:
    """Return the `Problem` for `error`."""
    message = str(error)[:_MOST_LETTERS] or type(error).__name__
    expected, found = _EXPECTED.search(message), _FOUND.search(message)
    return Problem(
        type=type(error).__name__,
        message=message,
        expected=expected[1].strip() if expected else "",
        found=found[1].strip() if found else "",
        next=error.next if isinstance(error, ExplorerError) else "",
    )
