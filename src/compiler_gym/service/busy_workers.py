# SPDX-License-Identifier: MIT
"""How many workers of this process are busy at once, and who may stay awake for it.

Looking for a message saves the time that waking a sleeper takes, and holds a core
meanwhile. That is a gain only while nobody else of ours could use the core.
"""

import os

__all__ = ["CLIENT_AWAKE_SECONDS", "BusyWorkers", "busy_workers"]

CLIENT_AWAKE_SECONDS = 5e-3
"""How long a client looks for a reply before it sleeps: longer than most passes take. It sleeps
at once while as many workers are busy as there are cores: they use its core better."""
_LEAST_RELUCTANT, _MOST_RELUCTANT = 2, 256
"""Number of waves that are made at once after one in turn was late."""


class BusyWorkers:
    """The requests that wait for their replies: of a connection, or of a wave of several.

    They come in waves: a vector environment sends all of them before it reads a reply.
    The size of a wave is that of the one before until it is larger, so that its first
    requests are known to be of many.

    >>> busy_workers = BusyWorkers(cores=2)
    >>> for worker in "abc":
    ...     _ = busy_workers.enter(worker)
    >>> busy_workers.client_may_look, busy_workers.worker_may_look
    (False, False)
    """

    def __init__(self, cores: int) -> None:
        self.cores = cores
        """How many workers can compute at once."""
        self._waiting: dict[object, int] = {}
        self._most = 0
        self._before = 0
        self.worker_may_look = True
        """True if every worker has a core of its own."""
        self._at_once_for = 0
        self._reluctance = _LEAST_RELUCTANT
        self._judge()

    def takes_turns(self, count: int) -> bool:
        """Return whether each core had better get its own of the next `count` requests.

        To ask counts, after replies that were late.
        """
        if count <= self.cores:
            return False
        if self._at_once_for:
            self._at_once_for -= 1
            return False
        return True

    def took_turns(self, *, was_late: bool) -> None:
        """Note whether replies to requests in turn were late, though they were computed in time.

        Then others want the cores too. A worker that was put on one waits for it while the
        kernel could find it another, and is one against each of them where all at once are
        many. The next requests are made at once, the more of them the more often it happens.
        """
        if was_late:
            self._reluctance = min(2 * self._reluctance, _MOST_RELUCTANT)
            self._at_once_for = self._reluctance
        else:
            self._reluctance = max(self._reluctance // 2, _LEAST_RELUCTANT)

    @property
    def client_may_look(self) -> bool:
        """True if a core is left for who waits for a reply."""
        return sum(self._waiting.values()) < self.cores

    def enter(self, key: object, count: int = 1) -> int:
        """Note that `count` requests are made under this key, in place of those before.

        Returns how many wait in all.
        """
        self._waiting[key] = count
        total = sum(self._waiting.values())
        if total > self._most:
            self._most = total
            if total > self._before:
                self._judge()
        return total

    def leave(self, key: object) -> None:
        """Note that its replies have come, or never will."""
        self._waiting.pop(key, None)
        if not self._waiting and self._most:
            changes = self._most < self._before
            self._before, self._most = self._most, 0
            if changes:
                self._judge()

    def clear(self) -> None:
        """Forget everything: the requests are another process's."""
        self._waiting.clear()
        self._most = self._before = self._at_once_for = 0
        self._reluctance = _LEAST_RELUCTANT
        self._judge()

    def _judge(self) -> None:
        size = max(self._before, self._most)
        self.worker_may_look = size <= self.cores


busy_workers = BusyWorkers(len(os.sched_getaffinity(0)))
"""The requests of this process that wait for a reply."""
