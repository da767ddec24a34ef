# SPDX-License-Identifier: MIT
"""What was tried, one line each, so that a tuning that was ended goes on where it was."""

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
"""In the folder of a binary."""


@dataclass(frozen=True, slots=True)
class Tried:
    """Decisions, and what they cost."""

    actions: tuple[str, ...]
    cost: float
    """Infinite where they failed."""


class _Line(msgspec.Struct):
    """One line of the file."""

    key: str
    cost: float | None
    actions: tuple[str, ...]


class Journal:
    """A file of what was tried in one search."""

    def __init__(
        self,
        path: Path,
        key: str,
        *,
        require_possible: Callable[[tuple[str, ...]], None] = lambda actions: None,
    ) -> None:
        """Read what is there; `require_possible` raises `PlanError` for what no search tries.

        A journal may come from somebody else, as a plan may.
        """
        self._path, self._key = path, key
        self._costs: dict[tuple[str, ...], float] = {}
        self._lock = threading.Lock()
        for line in whole_lines(path):
            try:
                read = msgspec.convert(line, _Line)
            except msgspec.ValidationError:
                continue
            if read.key == key:
                try:
                    require_possible(read.actions)
                except PlanError as error:
                    raise PlanError(f"{path}: {error}, or delete that file") from error
                self._costs[read.actions] = math.inf if read.cost is None else read.cost

    def cost(self, actions: tuple[str, ...]) -> float | None:
        """Return what `actions` cost when they were tried, or None if they were not."""
        return self._costs.get(actions)

    def iterate_tried(self) -> Iterator[Tried]:
        """Yield all that was tried, in order."""
        for actions, cost in list(self._costs.items()):
            yield Tried(actions, cost)

    def add(self, stage: str, tried: Tried) -> None:
        """Append one line; raise `CacheError` where there is no room."""
        cost = None if math.isinf(tried.cost) else tried.cost
        line = {"key": self._key, "stage": stage, "cost": cost, "actions": tried.actions}
        with self._lock:
            self._costs[tried.actions] = tried.cost
            try:
                append_line(self._path, line, sync=False)
            except OSError as error:
                raise CacheError(f"cannot write {self._path}: {error.strerror}") from error
