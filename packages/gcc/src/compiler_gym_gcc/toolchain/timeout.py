# SPDX-License-Identifier: MIT
"""The time limit of one run of GCC, shared by client and worker."""

from compiler_gym.errors import InvalidParameterError

__all__ = ["DEFAULT_SECONDS", "check_timeout"]

DEFAULT_SECONDS = 60.0


def check_timeout(seconds: float | str) -> float:
    """Return `seconds` as a number; raise `InvalidParameterError` unless finite and above 0.

    >>> check_timeout("2.5")
    2.5
    """
    try:
        number = float(seconds)
    except (TypeError, ValueError):
        number = 0.0
    if not 0 < number < float("inf"):
        raise InvalidParameterError(f"timeout must be above 0 seconds (got {seconds!r})")
    return number
