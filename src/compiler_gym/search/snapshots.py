# SPDX-License-Identifier: MIT
"""Processes kept at states that walks often set out from: the tree's own, for a while.

Each is an environment that is never stepped, only forked. What was used longest ago is
closed first, when there are too many or when they hold too much memory.
"""

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compiler_gym.errors import InvalidParameterError, ServiceError
from compiler_gym.search.tree import Node, State

__all__ = ["Snapshots", "Weight"]

_WEIGHED_EVERY = 8


class Weight:
    """About what a kept process of one program holds: one in eight is weighed."""

    def __init__(self) -> None:
        self.bytes = 0
        self._kept = 0

    def note(self, env: Any) -> None:
        """Weigh `env`, which has been kept for a while, if it is time."""
        self._kept += 1
        if self._kept % _WEIGHED_EVERY == 1:
            self.bytes = _own_bytes(env)


@dataclass(slots=True)
class _Kept:
    env: Any
    weight: Weight
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while the environment is forked or closed."""


class Snapshots:
    """The kept environments, by state; for any number of threads.

    There are at most `capacity`, and together they hold about `memory_bytes` at most that
    no other process shares. Raises `InvalidParameterError` for a bound below 0.
    """

    def __init__(self, capacity: int, memory_bytes: float = float("inf")) -> None:
        for name, bound in (("capacity", capacity), ("memory", memory_bytes)):
            if not bound >= 0:
                raise InvalidParameterError(
                    f"the {name} for kept processes is {bound}: expected a number of at least 0"
                )
        self._capacity = capacity
        self._memory_bytes = memory_bytes
        self._lock = threading.Lock()
        self._kept: OrderedDict[State, _Kept] = OrderedDict()
        self._closed = False

    def __contains__(self, state: object) -> bool:
        return state in self._kept

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def has_room(self) -> bool:
        """Whether it keeps anything."""
        return self._capacity > 0 and self._memory_bytes > 0

    def kept(self, state: State) -> Any | None:
        """Return the environment that is kept at `state`; to fork it, call `fork`."""
        found = self._kept.get(state)
        return None if found is None else found.env

    def nearest(self, node: Node) -> Node | None:
        """Return the closest ancestor of `node` (or itself) whose state is kept."""
        kept = self._kept
        return next((ancestor for ancestor in node.lineage() if ancestor.known in kept), None)

    def keep(self, state: State, env: Any, weight: Weight) -> None:
        """Take over `env`, which stands at `state`."""
        superfluous: list[_Kept] = []
        with self._lock:
            self._weigh(weight)
            entry = _Kept(env, weight)
            if self._closed or state in self._kept:
                superfluous.append(entry)
            else:
                self._kept[state] = entry
            while self._is_too_much():
                superfluous.append(self._kept.popitem(last=False)[1])
        for extra in superfluous:
            _close(extra)

    def fork(self, state: State) -> Any | None:
        """Return a new environment that stands at `state`, or None if there is none.

        One whose process was lost is forgotten.
        """
        with self._lock:
            entry = self._kept.get(state)
            if entry is None:
                return None
            self._kept.move_to_end(state)
        with entry.lock:
            try:
                if entry.env.in_episode:
                    return entry.env.fork()
            except (ServiceError, OSError):
                pass
        with self._lock:
            if self._kept.get(state) is entry:
                del self._kept[state]
        _close(entry)
        return None

    def close(self) -> None:
        """Close every kept environment; later ones are closed as they come."""
        with self._lock:
            self._closed = True
            kept = list(self._kept.values())
            self._kept.clear()
        for entry in kept:
            _close(entry)

    def _weigh(self, weight: Weight) -> None:
        """Let `weight` look at a process that is kept: a new one still shares all it has."""
        older = next((kept for kept in self._kept.values() if kept.weight is weight), None)
        if older is not None:
            weight.note(older.env)

    def _is_too_much(self) -> bool:
        if len(self._kept) > self._capacity:
            return True
        return sum(kept.weight.bytes for kept in self._kept.values()) > self._memory_bytes


def _close(kept: _Kept) -> None:
    with kept.lock:
        kept.env.close()


def _own_bytes(env: Any) -> int:
    """Return the memory that the worker of `env` shares with nobody; 0 where there is none."""
    pid = getattr(env.episode.connection, "pid", None)
    if pid is None:
        return 0
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:  # it has ended
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty:")) << 10
