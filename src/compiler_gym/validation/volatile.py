# SPDX-License-Identifier: MIT
"""Distinguish an output that differs by a time or an address from a wrong one.

A program that prints the time or a pointer prints something else on every run, no matter how it
was compiled. Only text that looks like one of the two is ignored; every other difference counts.
"""

import re
import time

__all__ = ["describe_difference", "differs_only_in_volatile_words"]

_DAY = 86_400.0
_ADDRESS = re.compile(rb"0x[0-9a-fA-F]{8,16}|\b[0-9a-f]{12}\b")
_CLOCK = re.compile(
    rb"\b\d{4}-\d\d-\d\d\b|\b\d{1,2}:\d\d(:\d\d(\.\d+)?)?\b"
    rb"|\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? +(\d{1,2} +)?(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|"
    rb"Oct|Nov|Dec)[a-z]*( +\d{1,2})?( +\d{4})?\b"
)
_UNIX_TIME = re.compile(rb"\b\d{10}(?:\d{3}|\d{6}|\d{9})?\b")
_MOST_QUOTED = 60


def differs_only_in_volatile_words(one: bytes, other: bytes) -> str | None:
    """Return the kind of a harmless difference, ``an address`` or ``a time``, or None.

    >>> differs_only_in_volatile_words(b"at 0x7f0012345678", b"at 0x7ffe9abcdef0")
    'an address'
    >>> differs_only_in_volatile_words(b"17 apples", b"18 apples") is None
    True
    """
    if one == other:
        return None
    if _ADDRESS.sub(b"@", one) == _ADDRESS.sub(b"@", other):
        return "an address"
    if _without_times(one) == _without_times(other):
        return "a time"
    both = [_ADDRESS.sub(b"@", _without_times(text)) for text in (one, other)]
    return "a time and an address" if both[0] == both[1] else None


def describe_difference(wanted: bytes, found: bytes) -> str:
    r"""Return the first difference of two outputs, in one line.

    >>> describe_difference(b"1\n2\n", b"1\n3\n")
    "line 2: expected '2', got '3'"
    """
    expected_lines, lines = wanted.splitlines(), found.splitlines()
    for number, (line, other) in enumerate(zip(expected_lines, lines, strict=False), start=1):
        if line != other:
            return f"line {number}: expected {_quote(line)}, got {_quote(other)}"
    if len(expected_lines) == len(lines):
        return "the line endings differ"
    return f"expected {len(expected_lines)} lines, got {len(lines)}"


def _without_times(text: bytes) -> bytes:
    return _UNIX_TIME.sub(_mask_current_time, _CLOCK.sub(b"#", text))


def _mask_current_time(match: re.Match[bytes]) -> bytes:
    """Return a mark in place of a Unix time, in any unit, within a day of now."""
    digits = match.group()
    seconds = int(digits) / 10 ** (len(digits) - 10)
    return b"#" if abs(seconds - time.time()) < _DAY else digits


def _quote(line: bytes) -> str:
    text = line.decode(errors="backslashreplace")
    return repr(text if len(text) <= _MOST_QUOTED else f"{text[:_MOST_QUOTED]}...")
