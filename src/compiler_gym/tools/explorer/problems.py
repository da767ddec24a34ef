# SPDX-License-Identifier: MIT
"""Conversion of errors to records."""

import re

from compiler_gym.errors import ExplorerError
from compiler_gym.tools.explorer.records import Problem

__all__ = ["make_problem"]

_FACTS = re.compile(r"\b(expected|found) (.+?)(?=(?:, (?:found|expected) |[;:] |$))", re.DOTALL)
_MOST_LETTERS = 20_000


def make_problem(error: Exception) -> Problem:
    """Return the `Problem` for `error`."""
    message = str(error)[:_MOST_LETTERS] or type(error).__name__
    facts = {key: text.strip() for key, text in _FACTS.findall(message)}
    return Problem(
        type=type(error).__name__,
        message=message,
        expected=facts.get("expected", ""),
        found=facts.get("found", ""),
        next=error.next if isinstance(error, ExplorerError) else "",
    )
