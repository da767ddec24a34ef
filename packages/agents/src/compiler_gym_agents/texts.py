# SPDX-License-Identifier: MIT
"""Texts that fit into an answer: pages of lines, and diffs of programs."""

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
"""The maximum number of lines in two texts to compare."""


def cut(text: str, most: int) -> str:
    """Return the beginning of a long text, and the number of characters cut off.

    >>> cut("abcdef", 4)
    'abcd... (+2 characters)'
    """
    excess = len(text) - most
    return text if excess <= 0 else f"{text[:most]}... (+{excess:,} characters)"


def make_page(lines: Iterable[str], page: int, room: int) -> tuple[str, str]:
    """Return one page of `lines`, and a note on the number of pages and the next page.

    Args:
        lines: The lines; long ones are truncated.
        page: The number of the page, from 1.
        room: The maximum number of characters on a page.

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
        raise InvalidParameterError(f"no page {page}; choose 1 to {len(pages)}")
    position = f"page {page} of {len(pages)}" if len(pages) > 1 else ""
    more = f"; next: page={page + 1}" if page < len(pages) else ""
    return "\n".join(pages[page - 1]), position + more


def difference(before: str, after: str) -> list[str]:
    """Return a unified diff with a few lines of context, marked ``-``, ``+`` and ``@@``.

    A value or block that only has another number is not a difference.
    """
    old, new = before.split("\n"), after.split("\n")
    if len(old) + len(new) > _MOST_COMPARED:
        raise InvalidParameterError(
            f"texts of {len(old):,} and {len(new):,} lines are too long to compare; name a function"
        )
    matcher = difflib.SequenceMatcher(
        None, comparable(before).split("\n"), comparable(after).split("\n"), autojunk=False
    )
    lines: list[str] = []
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        lines.append(f"@@ line {group[0][1] + 1} -> line {group[0][3] + 1} @@")
        for kind, a, b, c, d in group:
            if kind == "equal":
                lines += [f" {text}" for text in new[c:d]]
                continue
            lines += [f"-{text}" for text in old[a:b]]
            lines += [f"+{text}" for text in new[c:d]]
    return lines


def as_json(value: Any) -> str:
    """Return plain values as JSON; raise `TypeError` for values without a JSON form."""
    return json.dumps(to_plain(value), ensure_ascii=False)
