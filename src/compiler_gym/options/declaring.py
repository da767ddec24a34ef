# SPDX-License-Identifier: MIT
"""Declarations of options in the fields of a record.

They are independent of the command line and of run folders, which both read `list_options`.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, SupportsFloat

from compiler_gym.errors import InvalidParameterError

_KEY = "option"
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(s|m|h)?")
_UNITS = {"s": 1, "m": 60, "h": 3600}


@dataclass(frozen=True, slots=True)
class Range:
    """The valid numbers of an option."""

    expected: str
    """The end of an error message: "NAME must be ..."."""
    allows: Callable[[Any], bool]
    whole: bool = False
    """True if only whole numbers are valid."""

    def check(self, name: str, value: object) -> None:
        """Raise `InvalidParameterError` for an invalid value of the option `name`."""
        if not self._is_number(value) or not self.allows(value):
            raise InvalidParameterError(f"{name} must be {self.expected} (got {_text(value)})")

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


def seconds_in(name: str, text: str) -> float:
    """Return the seconds in ``90``, ``90s``, ``30m`` or ``2h``, the value of the option `name`.

    Raises `InvalidParameterError` for any other text, and for 0.

    >>> seconds_in("--time", "30m")
    1800.0
    """
    match = _DURATION.fullmatch(text)
    seconds = float(match[1]) * _UNITS[match[2] or "s"] if match else 0
    if not 0 < seconds < math.inf:
        raise InvalidParameterError(
            f"{name} must be a number of seconds, or a time such as 90s, 10m or 2h (got {text})"
        )
    return seconds


ABOVE_0 = Range("a number above 0", lambda value: 0 < value < math.inf)
"""Positive numbers, such as seconds."""
FROM_0 = Range("a finite number of at least 0", lambda value: 0 <= value < math.inf)
"""Numbers that may be 0, such as seconds."""
WHOLE_ABOVE_0 = Range("a whole number of at least 1", lambda value: value > 0, whole=True)
"""Counts of at least 1."""
WHOLE_FROM_0 = Range(
    "a whole number from 0 that fits 64 bits", lambda value: 0 <= value < 1 << 63, whole=True
)
"""Counts that may be 0, and seeds."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """The form of an option on the command line, if it differs from the field."""

    name: str = ""
    """The name, if it is not the field's: ``memory_gib`` becomes ``--memory-gib``."""
    unit: float = 1
    """The size of the command line's unit, in the field's unit."""
    range: Range | None = None
    """The valid numbers on the command line, if they differ."""
    type: Any = None
    """The type, if it is not the field's."""
    read: Callable[[str, Any], Any] | None = None
    """Converts the command line's value to the field's, if they differ; takes the option's name
    too, for its error."""


@dataclass(frozen=True, slots=True)
class DeclaredOption:
    """One option, as its field declares it."""

    help: str
    """The effect, as a phrase without a full stop; empty for options that only Python has."""
    range: Range | None
    may_change: bool
    """True if a resumed run may use another value."""
    spelling: Spelling

    def flag(self, name: str) -> str:
        """Return the name on the command line of the option with the field `name`."""
        return f"--{(self.spelling.name or name).rstrip('_').replace('_', '-')}"

    def format_default(self, default: object) -> str:
        """Return a default in the command line's unit, or an empty text if none is shown."""
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
    """Return a field that is an option; `check` in `__post_init__` validates the record.

    An option of a run keeps its value when the run is resumed, unless it `may_change`.
    """
    return field(
        default=default,
        metadata={_KEY: DeclaredOption(help, range, may_change, spelling or Spelling())},
    )


def list_options(record: Any) -> Mapping[str, DeclaredOption]:
    """Return the options of a record or of its class, by the names of their fields."""
    return {item.name: item.metadata[_KEY] for item in fields(record) if _KEY in item.metadata}


def check(record: Any) -> None:
    """Raise `InvalidParameterError` for an option out of its range; None is valid as a default."""
    defaults = {declared.name: declared.default for declared in fields(record)}
    for name, declared in list_options(record).items():
        value = getattr(record, name)
        if declared.range is not None and not (value is None and defaults[name] is None):
            declared.range.check(name, value)


def to_plain(record: Any) -> dict[str, Any]:
    """Return the value of every option, as it would come back from JSON."""
    return json.loads(
        json.dumps({name: getattr(record, name) for name in list_options(record)}, default=str)
    )
