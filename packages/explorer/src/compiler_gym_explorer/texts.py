# SPDX-License-Identifier: MIT
"""Texts of states, function by function, and their differences."""

import difflib
import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from compiler_gym.core import PaneText, TextPane, comparable, parts_by_function
from compiler_gym.errors import ExplorerError, unknown_name
from compiler_gym_explorer.records import (
    Difference,
    Fact,
    FunctionDifference,
    Functions,
    LineMap,
    Text,
)
from compiler_gym_explorer.tree import State, Tree

__all__ = ["Listings", "difference", "list_functions", "make_text"]

_KEPT_LETTERS = 32 << 20
_MOST_COMPARED = 4_000
"""The maximum number of lines for which differences are counted exactly."""


@dataclass(frozen=True, slots=True)
class _Listing:
    """A text and its functions."""

    text: PaneText
    parts: Mapping[str, str]


class Listings:
    """A cache of recently requested texts, for one thread at a time."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._kept: OrderedDict[tuple[int, str], _Listing] = OrderedDict()

    def of(self, state: State, pane: TextPane) -> _Listing:
        """Return the text that a pane shows of a state."""
        key = state.id, pane.observation
        if key not in self._kept:
            raw = self._tree.use(state, lambda env: env.observation[pane.observation])
            text = pane.read(str(raw))
            self._kept[key] = _Listing(text, parts_by_function(text.text, pane.listing))
            self._make_room()
        self._kept.move_to_end(key)
        return self._kept[key]

    def forget(self, id: int) -> None:
        """Drop the texts of a removed node."""
        for key in [key for key in self._kept if key[0] == id]:
            del self._kept[key]

    def _make_room(self) -> None:
        size = sum(len(listing.text.text) for listing in self._kept.values())
        while size > _KEPT_LETTERS and len(self._kept) > 2:
            _, oldest = self._kept.popitem(last=False)
            size -= len(oldest.text.text)


def make_text(listed: _Listing, pane: TextPane, node: int, function: str | None) -> Text:
    """Return a text, or only one function; raise `ExplorerError` if there is no such function."""
    lines = listed.text.lines
    text, first = listed.text.text, 0
    if function is not None:
        if function not in listed.parts:
            raise ExplorerError(unknown_name("function", function, listed.parts), status=404)
        text = listed.parts[function]
        if function:
            first = _lines_before(listed.text.text, text)
            last = first + text.count("\n") + 1
            lines = {n - first: source for n, source in lines.items() if first < n <= last}
        else:
            lines = {}
    line_map = LineMap(lines=list(lines), sources=list(lines.values())) if lines else None
    return Text(node=node, language=pane.listing.language, text=text, line_map=line_map)


def list_functions(listed: _Listing, node: int) -> Functions:
    """Return the functions of a text."""
    facts = {name: _fact(name, text) for name, text in listed.parts.items()}
    outside = facts.pop("", _fact("", ""))
    return Functions(node=node, functions=list(facts.values()), outside=outside)


def difference(a: int, before: _Listing, b: int, after: _Listing) -> Difference:
    """Return the functions with the numbers of changed lines, most changed first."""
    rows = [
        _function_difference(name, before.parts.get(name), after.parts.get(name))
        for name in dict.fromkeys([*after.parts, *before.parts])
    ]
    rows.sort(key=lambda row: (row.status == "same", not row.name, -(row.added + row.removed)))
    return Difference(a=a, b=b, functions=rows)


def _function_difference(name: str, before: str | None, after: str | None) -> FunctionDifference:
    def row(status: str, added: int, removed: int) -> FunctionDifference:
        return FunctionDifference(name=name, status=status, added=added, removed=removed)

    if before == after:
        return row("same", 0, 0)
    old = comparable(before).split("\n") if before is not None else []
    new = comparable(after).split("\n") if after is not None else []
    if before is None or after is None:
        return row("added" if before is None else "removed", len(new), len(old))
    return row("changed", *_count_changed_lines(old, new))


def _count_changed_lines(old: list[str], new: list[str]) -> tuple[int, int]:
    """Return the numbers of added and removed lines; for long functions, ignore their order."""
    if len(old) + len(new) > _MOST_COMPARED:
        return _without_equal(new, old), _without_equal(old, new)
    same = sum(
        block.size
        for block in difflib.SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    )
    return len(new) - same, len(old) - same


def _without_equal(lines: list[str], others: list[str]) -> int:
    counts: dict[str, int] = {}
    for line in others:
        counts[line] = counts.get(line, 0) + 1
    missing = 0
    for line in lines:
        if counts.get(line, 0):
            counts[line] -= 1
        else:
            missing += 1
    return missing


def _fact(name: str, text: str) -> Fact:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=12)
    count = text.count("\n") + 1 if text else 0
    return Fact(name=name, lines=count, digest=digest.hexdigest())


def _lines_before(text: str, part: str) -> int:
    start = text.find(part)
    return text.count("\n", 0, start) if start >= 0 else 0
