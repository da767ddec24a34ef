# SPDX-License-Identifier: MIT
"""The debug level of this library, as in CompilerGym 0.2.5.

A level is a number from 0 (errors) to 3 (everything). It is stored in the variable
``COMPILER_GYM_DEBUG``, so that processes that start later have it too.
"""

import logging
import os

from compiler_gym.errors import InvalidParameterError

__all__ = [
    "get_debug_level",
    "get_logging_level",
    "logging_level_to_debug_level",
    "set_debug_level",
]

_VARIABLE = "COMPILER_GYM_DEBUG"
_LOG_LEVELS = (logging.ERROR, logging.WARNING, logging.INFO, logging.DEBUG)


def get_debug_level() -> int:
    """Return the debug level: ``COMPILER_GYM_DEBUG``, or 0. Greater numbers count as 3.

    Raises `InvalidParameterError` if the variable is not a number.
    """
    text = os.environ.get(_VARIABLE) or "0"
    if not text.isdecimal():
        raise InvalidParameterError(f"{_VARIABLE} must be a number from 0 to 3 (got {text!r})")
    return min(int(text), len(_LOG_LEVELS) - 1)


def set_debug_level(level: int) -> None:
    """Set the debug level of this process and of those that it starts later."""
    is_integer = isinstance(level, int)  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
    if isinstance(level, bool) or not is_integer or level < 0:
        raise InvalidParameterError(f"the debug level must be a number from 0 to 3 (got {level!r})")
    os.environ[_VARIABLE] = str(level)
    logging.getLogger("compiler_gym").setLevel(get_logging_level())


def get_logging_level() -> int:
    """Return the level of `logging` for the debug level: 0 is ``logging.ERROR``."""
    return _LOG_LEVELS[get_debug_level()]


def logging_level_to_debug_level(logging_level: int) -> int:
    """Return the lowest debug level that shows messages of `logging_level`.

    >>> logging_level_to_debug_level(logging.INFO)
    2
    """
    shown = (debug for debug, level in enumerate(_LOG_LEVELS) if level <= logging_level)
    return next(shown, len(_LOG_LEVELS) - 1)
