# SPDX-License-Identifier: MIT
"""Texts that fit an answer: pages of lines, and the difference of two programs."""

import difflib
import json
from collections.abc import Iterable
from typing import Any

from compiler_gym.core import comparable
from compiler_gym.errors import InvalidParameterError
from compiler_gym.spaces import to_plain

__all__ = ["as_json", "cut", "difference", "make_page"]

_LONGEST_LINE = 300
_CONTEXT = 2
_MOST_COMPARED = 20_000
"""The most lines of two texts that are compared line by line."""


def cut(text: str, most: int) -> str:
    """Return the beginning of a long text, and how much of it is missing.

    >>> cut("abcdef", 4)
    'abcd... (+2 characters)'
    """
    left = len(text) - most
    return text if left <= 0 else f"{text[:most]}... (+{left:,} characters)"


def make_page(lines: Iterable[str], page: int, room: int) -> tuple[str, str]:
    """Return the page `page`, counted from 1, of `lines`, and how to see more.

    Args:
        lines: The lines; long ones are cut.
        page: Which page.
        room: How many characters a page has at most.

    Raises:
        InvalidParameterError: There is no such page.
    """
    pages: list[list[str]] = [[]]
    used = 0
    for line in lines:
        short = cut(line, min(_LONGEST_LINE, room))
        if used + len(short) + 1 > room and pages[-1]:
            pages.append([])
            used = 0
        pages[-1].append(short)
        used += len(short) + 1
    if not 1 <= page <= len(pages):
        raise InvalidParameterError(f"there is no page {page}: expected 1 to {len(pages)}")
    where = f"page {page} of {len(pages)}" if len(pages) > 1 else ""
    more = f"; next: page={page + 1}" if page < len(pages) else ""
    return "\n".join(pages[page - 1]), where + more


def difference(before: str, after: str) -> list[str]:
    """Return the lines that differ with a few around them, as ``-``, ``+`` and ``@@``.

    A value or block that only got another number is no difference.
    """
    old, new = before.split("\n"), after.split("\n")
    if len(old) + len(new) > _MOST_COMPARED:
        raise InvalidParameterError(
            f"texts of {len(old):,} and {len(new):,} lines are too long to be compared: "
            "expected the name of a function"
        )
    matcher = difflib.SequenceMatcher(
        None, comparable(before).split("\n"), comparable(after).split("\n"), autojunk=False
    )
    found: list[str] = []
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        found.append(f"@@ line {group[0][1] + 1} -> line {group[0][3] + 1} @@")
        for kind, a, b, c, d in group:
            if kind == "equal":
                found += [f" {line}" for line in new[c:d]]
                continue
            found += [f"-{line}" for line in old[a:b]]
            found += [f"+{line}" for line in new[c:d]]
    return found


def as_json(value: Any) -> str:
    """Return plain values as JSON; raise `TypeError` for what has none."""
    return json.dumps(to_plain(value), ensure_ascii=False)
