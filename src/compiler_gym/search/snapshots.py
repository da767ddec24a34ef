# SPDX-License-Identifier: MIT
"""Environments kept at states that walks often set out from.

Each is a process, so there are few: the one used longest ago is closed first. A
snapshot is never stepped, only forked.
"""

import threading
from collections import OrderedDict
from typing import Any

from compiler_gym.errors import ServiceError
from compiler_gym.search.tree import Node

__all__ = ["Snapshots"]


class Snapshots:
    """The kept environments, by node; for any number of threads."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._lock = threading.Lock()
        self._kept: OrderedDict[Node, tuple[threading.Lock, Any]] = OrderedDict()
        self._closed = False

    def __contains__(self, node: object) -> bool:
        return node in self._kept

    def nearest(self, node: Node) -> Node | None:
        """Return the closest ancestor of `node` (or itself) that is kept."""
        return next((ancestor for ancestor in node.lineage() if ancestor in self._kept), None)

    def keep(self, node: Node, env: Any) -> None:
        """Take over `env`, which stands at `node`."""
        with self._lock:
            superfluous = [env] if self._closed or node in self._kept else []
            if not superfluous:
                self._kept[node] = (threading.Lock(), env)
                while len(self._kept) > self._capacity:
                    lock, oldest = self._kept.popitem(last=False)[1]
                    with lock:
                        superfluous.append(oldest)
        for extra in superfluous:
            extra.close()

    def fork(self, node: Node) -> Any | None:
        """Return a new environment that stands at `node`, or None if there is none."""
        with self._lock:
            entry = self._kept.get(node)
            if entry is None:
                return None
            self._kept.move_to_end(node)
        lock, env = entry
        with lock:
            try:
                return env.fork() if env.in_episode else None
            except (ServiceError, OSError):
                return None

    def close(self) -> None:
        """Close every kept environment; later ones are closed as they come."""
        with self._lock:
            self._closed = True
            kept = list(self._kept.values())
            self._kept.clear()
        for lock, env in kept:
            with lock:
                env.close()
