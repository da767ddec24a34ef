# SPDX-License-Identifier: MIT
"""Turns errors into answers: an HTTP status and a `Problem`."""

import re

from compiler_gym.errors import (
    BenchmarkNotFoundError,
    CompilerError,
    CompilerGymError,
    ExplorerError,
    RequestError,
    ServiceError,
    StateFileNotFoundError,
    UnknownNameError,
    WorkerTimeoutError,
)
from compiler_gym.explorer.records import Problem

__all__ = ["problem_of", "status_of"]

_FACTS = re.compile(r"\b(expected|found) (.+?)(?=(?:, (?:found|expected) |[;:] |$))", re.DOTALL)
_MOST_LETTERS = 20_000
_STATUS: tuple[tuple[type[CompilerGymError], int], ...] = (
    (BenchmarkNotFoundError, 404),
    (StateFileNotFoundError, 404),
    (UnknownNameError, 404),
    (RequestError, 400),
    (CompilerError, 422),
    (WorkerTimeoutError, 504),
    (ServiceError, 502),
)
"""The status by error class; the first class that matches counts."""


def problem_of(error: Exception) -> Problem:
    """Return the `Problem` for `error`."""
    message = str(error)[:_MOST_LETTERS] or type(error).__name__
    found = {key: text.strip() for key, text in _FACTS.findall(message)}
    return Problem(
        type=type(error).__name__,
        message=message,
        expected=found.get("expected", ""),
        found=found.get("found", ""),
        next=error.next if isinstance(error, ExplorerError) else "",
    )


def status_of(error: Exception) -> int:
    """Return the HTTP status for `error`; 500 if it is a defect of the server."""
    if isinstance(error, ExplorerError):
        return error.status
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
