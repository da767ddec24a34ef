# SPDX-License-Identifier: MIT
"""The HTTP status of each error."""

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

__all__ = ["choose_status"]

_STATUS: tuple[tuple[type[CompilerGymError], int], ...] = (
    (BenchmarkNotFoundError, 404),
    (StateFileNotFoundError, 404),
    (UnknownNameError, 404),
    (RequestError, 400),
    (CompilerError, 422),
    (WorkerTimeoutError, 504),
    (ServiceError, 502),
)
"""The status for each error class; the first matching class counts."""


def choose_status(error: Exception) -> int:
    """Return the HTTP status for `error`; 500 if it is a defect of the server."""
    if isinstance(error, ExplorerError):
        return error.status
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
