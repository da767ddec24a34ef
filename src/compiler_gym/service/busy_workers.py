# SPDX-License-Identifier: MIT
"""The number of workers of this process that are busy at once, and which processes may spin.

Polling for a message saves the time it takes to wake a sleeping process, but occupies a core
meanwhile. It pays off only while no other process of ours could use that core.
"""

import os

CLIENT_AWAKE_SECONDS = 5e-3
"""Seconds that a client polls for a reply before it sleeps: longer than most passes. It sleeps
at once while there are as many busy workers as cores, because they make better use of its core."""
_LEAST_RELUCTANT, _MOST_RELUCTANT = 2, 256
"""Bounds of the number of waves sent all at once after a wave whose replies were late."""


class BusyWorkers:
    """The requests that wait for their replies, of one connection or of a wave of several.

    Requests come in waves: a vector environment sends all of them before it reads a reply. Each
    wave is assumed to be as large as the previous one until it grows larger, so that its first
    requests are already known to belong to a large wave.

    >>> busy_workers = BusyWorkers(cores=2)
    >>> for worker in "abc":
    ...     _ = busy_workers.enter(worker)
    >>> busy_workers.client_may_look, busy_workers.worker_may_look
    (False, False)
    """

    def __init__(self, cores: int) -> None:
        self.cores = cores
        """The number of workers that can compute at once."""
        self._waiting: dict[object, int] = {}
        self._most = 0
        self._before = 0
        self.worker_may_look = True
        """True if there is a core for every worker."""
        self._at_once_for = 0
        self._reluctance = _LEAST_RELUCTANT
        self._judge()

    def takes_turns(self, count: int) -> bool:
        """Return whether to pin each of the next `count` requests to a core, one after the other.

        Each call counts as a wave after replies that were late.
        """
        if count <= self.cores:
            return False
        if self._at_once_for:
            self._at_once_for -= 1
            return False
        return True

    def took_turns(self, *, was_late: bool) -> None:
        """Note whether replies to requests sent one per core were late, though computed in time.

        If so, other processes want the cores too. A worker pinned to a busy core waits for it
        although the kernel could move the worker elsewhere. The next requests are therefore sent
        all at once, for more waves each time that this happens.
        """
        if was_late:
            self._reluctance = min(2 * self._reluctance, _MOST_RELUCTANT)
            self._at_once_for = self._reluctance
        else:
            self._reluctance = max(self._reluctance // 2, _LEAST_RELUCTANT)

    @property
    def client_may_look(self) -> bool:
        """True if there is a free core for a process that waits for a reply."""
        return sum(self._waiting.values()) < self.cores

    def enter(self, key: object, count: int = 1) -> int:
        """Note that `count` requests are made under this key, replacing earlier ones.

        Returns the total number of waiting requests.
        """
        self._waiting[key] = count
        total = sum(self._waiting.values())
        if total > self._most:
            self._most = total
            if total > self._before:
                self._judge()
        return total

    def leave(self, key: object) -> None:
        """Note that the replies to the requests of `key` have come, or never will."""
        self._waiting.pop(key, None)
        if not self._waiting and self._most:
            changes = self._most < self._before
            self._before, self._most = self._most, 0
            if changes:
                self._judge()

    def clear(self) -> None:
        """Forget everything: the requests belong to another process."""
        self._waiting.clear()
        self._most = self._before = self._at_once_for = 0
        self._reluctance = _LEAST_RELUCTANT
        self._judge()

    def _judge(self) -> None:
        size = max(self._before, self._most)
        self.worker_may_look = size <= self.cores


busy_workers = BusyWorkers(len(os.sched_getaffinity(0)))
"""The requests of this process that wait for a reply."""
