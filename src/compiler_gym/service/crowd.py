# SPDX-License-Identifier: MIT
"""How many workers of this process are busy at once, and who may stay awake for it.

Looking for a message saves the time that waking a sleeper takes, and holds a core
meanwhile. That is a gain only while nobody else of ours could use the core.
"""

import os

__all__ = ["Crowd"]

_CORES = len(os.sched_getaffinity(0))


class Crowd:
    """The requests that wait for their replies, by any key.

    They come in waves: a vector environment sends all of them before it reads a reply.
    The size of a wave is that of the one before until it is larger, so that its first
    requests are known to be of many.

    >>> crowd = Crowd(cores=2)
    >>> for worker in "abc":
    ...     crowd.enter(worker)
    >>> crowd.client_may_look, crowd.worker_may_look
    (False, False)
    """

    def __init__(self, cores: int = _CORES) -> None:
        self._cores = cores
        self._waiting: set[object] = set()
        self._most = 0
        self._before = 0
        self.worker_may_look = True
        """Whether every worker has a core of its own."""
        self._judge()

    @property
    def client_may_look(self) -> bool:
        """Whether a core is left for who waits for a reply."""
        return len(self._waiting) < self._cores

    def enter(self, key: object) -> None:
        """Note that a request was made."""
        waiting = self._waiting
        waiting.add(key)
        if len(waiting) > self._most:
            self._most = len(waiting)
            if self._most > self._before:
                self._judge()

    def leave(self, key: object) -> None:
        """Note that its reply has come, or never will."""
        waiting = self._waiting
        waiting.discard(key)
        if not waiting and self._most:
            changes = self._most < self._before
            self._before, self._most = self._most, 0
            if changes:
                self._judge()

    def clear(self) -> None:
        """Forget everything: the requests are another process's."""
        self._waiting.clear()
        self._most = self._before = 0
        self._judge()

    def _judge(self) -> None:
        size = max(self._before, self._most)
        self.worker_may_look = size <= self._cores
