# SPDX-License-Identifier: MIT
"""A file with one line for each measured state, so that a tuning can resume."""

import math
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from compiler_gym.errors import CacheError, PlanError
from compiler_gym.files import append_line, whole_lines

__all__ = ["JOURNAL", "Journal", "Tried"]

JOURNAL = "tried.jsonl"
"""The name of the journal, in the folder of a binary."""


@dataclass(frozen=True, slots=True)
class Tried:
    """Decisions and their cost."""

    actions: tuple[str, ...]
    cost: float
    """Bytes or seconds; infinite if the decisions failed."""


class _Line(msgspec.Struct):
    """One line of a journal."""

    key: str
    cost: float | None
    actions: tuple[str, ...]


class Journal:
    """The measured states of one search, stored in a file."""

    def __init__(
        self,
        path: Path,
        key: str,
        *,
        require_possible: Callable[[tuple[str, ...]], None] = lambda actions: None,
    ) -> None:
        """Read the file; `require_possible` raises `PlanError` for actions that no search tries.

        Journals are untrusted, as plans are.
        """
        self._path, self._key = path, key
        self._costs: dict[tuple[str, ...], float] = {}
        self._lock = threading.Lock()
        for line in whole_lines(path):
            try:
                entry = msgspec.convert(line, _Line)
            except msgspec.ValidationError:
                continue
            if entry.key == key:
                try:
                    require_possible(entry.actions)
                except PlanError as error:
                    raise PlanError(f"{path}: {error}, or delete that file") from error
                self._costs[entry.actions] = math.inf if entry.cost is None else entry.cost

    def cost(self, actions: tuple[str, ...]) -> float | None:
        """Return the cost of `actions`, or None if they were not tried."""
        return self._costs.get(actions)

    def iterate_tried(self) -> Iterator[Tried]:
        """Yield all tried states in order."""
        for actions, cost in list(self._costs.items()):
            yield Tried(actions, cost)

    def add(self, stage: str, tried: Tried) -> None:
        """Append one line; raise `CacheError` if it cannot be written."""
        cost = None if math.isinf(tried.cost) else tried.cost
        line = {"key": self._key, "stage": stage, "cost": cost, "actions": tried.actions}
        with self._lock:
            self._costs[tried.actions] = tried.cost
            try:
                append_line(self._path, line, sync=False)
            except OSError as error:
                raise CacheError(f"cannot write {self._path}: {error.strerror}") from error
