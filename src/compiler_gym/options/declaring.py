# SPDX-License-Identifier: MIT
"""How the field of a record says what kind of option it is.

It knows neither the command line nor run folders: both read `declared`.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, SupportsFloat

from compiler_gym.errors import InvalidParameterError

__all__ = [
    "ABOVE_0",
    "FROM_0",
    "WHOLE_ABOVE_0",
    "WHOLE_FROM_0",
    "DeclaredOption",
    "Range",
    "Spelling",
    "check",
    "list_options",
    "option",
    "seconds_in",
    "to_plain",
]

_KEY = "option"
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(s|m|h)?")
_UNITS = {"s": 1, "m": 60, "h": 3600}


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers that an option takes."""

    expected: str
    """What an error says was expected."""
    allows: Callable[[Any], bool]
    whole: bool = False
    """True if the numbers are whole."""

    def check(self, name: str, value: object) -> None:
        """Raise `InvalidParameterError`, which calls the option `name`, for another value."""
        if not self._is_number(value) or not self.allows(value):
            raise InvalidParameterError(f"{name} is {_text(value)}: expected {self.expected}")

    def _is_number(self, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, SupportsFloat):
            return False
        if self.whole:
            return hasattr(value, "__index__")
        try:
            return not math.isnan(float(value))
        except (OverflowError, TypeError, ValueError):
            return False


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return f"{value!s:.80}" if hasattr(value, "__index__") else f"{value!r:.80}"


def seconds_in(text: str) -> float:
    """Return the seconds that ``90``, ``90s``, ``30m`` or ``2h`` are.

    Raises `InvalidParameterError` for another text, and for no time at all.

    >>> seconds_in("30m")
    1800.0
    """
    match = _DURATION.fullmatch(text)
    if match is None or not float(match[1]):
        raise InvalidParameterError(
            f"--time is {text}: expected seconds, or a time such as 90s, 10m or 2h"
        )
    return float(match[1]) * _UNITS[match[2] or "s"]


ABOVE_0 = Range("a number above 0", lambda value: 0 < value < math.inf)
"""Seconds and their like."""
FROM_0 = Range("a number of at least 0", lambda value: value >= 0)
"""Seconds of which none are allowed too."""
WHOLE_ABOVE_0 = Range("a whole number above 0", lambda value: value > 0, whole=True)
"""Counts of which there is at least one."""
WHOLE_FROM_0 = Range(
    "a whole number from 0 that fits 64 bits", lambda value: 0 <= value < 1 << 63, whole=True
)
"""Counts that may be none, and seeds."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """How the command line writes an option, where it does not write the field as it is."""

    name: str = ""
    """The name, where it is not the field's: ``memory_gib`` becomes ``--memory-gib``."""
    unit: float = 1
    """How much one of the command line's units is of the field's."""
    range: Range | None = None
    """The numbers that the command line takes, where these are others."""
    type: Any = None
    """The type, where it is not the field's."""
    read: Callable[[Any], Any] | None = None
    """Makes the field's value of the command line's, where they differ."""


@dataclass(frozen=True, slots=True)
class DeclaredOption:
    """One option, as its field declares it."""

    help: str
    """What it does, in a phrase without a full stop; nothing: it is for Python alone."""
    range: Range | None
    may_change: bool
    """True if a run that is taken up may go on with another value."""
    spelling: Spelling

    def flag(self, name: str) -> str:
        """Return what the command line calls the option whose field is `name`."""
        return f"--{(self.spelling.name or name).rstrip('_').replace('_', '-')}"

    def format_default(self, default: object) -> str:
        """Return a default in the command line's unit; nothing where there is none to tell."""
        if default is None or default is False or isinstance(default, tuple):
            return ""
        if isinstance(default, (int, float)):
            return f"{default / self.spelling.unit:g}"
        return str(default)


def option(
    default: Any,
    help: str = "",
    range: Range | None = None,
    *,
    may_change: bool = False,
    spelling: Spelling | None = None,
) -> Any:
    """Return a field that is an option; a record whose `__post_init__` calls `check` is checked.

    An option of a run stays what it was when the run was begun, unless it `may_change`.
    """
    return field(
        default=default,
        metadata={_KEY: DeclaredOption(help, range, may_change, spelling or Spelling())},
    )


def list_options(record: Any) -> Mapping[str, DeclaredOption]:
    """Return the options of a record or of its class, by the names of their fields."""
    return {one.name: one.metadata[_KEY] for one in fields(record) if _KEY in one.metadata}


def check(record: Any) -> None:
    """Raise `InvalidParameterError` for an option out of its range; None is no number's default."""
    defaults = {one.name: one.default for one in fields(record)}
    for name, one in list_options(record).items():
        value = getattr(record, name)
        if one.range is not None and not (value is None and defaults[name] is None):
            one.range.check(name, value)


def to_plain(record: Any) -> dict[str, Any]:
    """Return every option as JSON would give it back."""
    return json.loads(
        json.dumps({name: getattr(record, name) for name in list_options(record)}, default=str)
    )
