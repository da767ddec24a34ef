# SPDX-License-Identifier: MIT
"""What was tried, one line each, so that a tuning that was ended goes on where it was."""

import math
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from compiler_gym.errors import CacheError
from compiler_gym.files import append_line, whole_lines

__all__ = ["Journal", "Tried"]


@dataclass(frozen=True, slots=True)
class Tried:
    """Decisions, and what they cost."""

    actions: tuple[str, ...]
    cost: float
    """Infinite where they failed."""


class Journal:
    """A file of what was tried in one search."""

    def __init__(self, path: Path, key: str) -> None:
        self._path, self._key = path, key
        self._costs: dict[tuple[str, ...], float] = {}
        self._lock = threading.Lock()
        for line in whole_lines(path):
            if line.get("key") == key:
                cost = line["cost"]
                self._costs[tuple(line["actions"])] = math.inf if cost is None else cost

    def cost(self, actions: tuple[str, ...]) -> float | None:
        """Return what `actions` cost when they were tried, or None if they were not."""
        return self._costs.get(actions)

    def tried(self) -> Iterator[Tried]:
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
