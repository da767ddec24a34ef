# SPDX-License-Identifier: MIT
"""Several requests at once: the core that computes each, and the reply to await first.

With at most as many workers as cores, all compute at once and the kernel places them. With
more, each core gets a share: the kernel would put them all on a core at once, so that the first
few passes end late, with each other's data in the caches, and a core that has finished its
share would idle while workers wait for another core.

Polling for a message saves the time it takes to wake a sleeping process, but occupies a core
meanwhile. It pays off only while no other process of ours could use that core.
"""

import os
from collections.abc import Iterable
from threading import get_ident
from typing import Protocol

from compiler_gym._service import exchange_at_once, exchange_in_turn
from compiler_gym.service.transport import Channel

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

    @property
    def is_one(self) -> bool:
        """True if each wave is a single request."""
        return self._size <= 1

    @property
    def _size(self) -> int:
        return max(self._before, self._most)

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
        self.worker_may_look = self._size <= self.cores


busy_workers = BusyWorkers(len(os.sched_getaffinity(0)))
"""The requests of this process that wait for a reply."""


_LATE_SECONDS = 1e-3
"""A reply that comes this much later than it was computed had to wait for a core."""
_MANY = 0.125
"""If this share of a wave's replies is late, other processes want the cores."""
_SHORT_SECONDS = 100e-6
"""Below this average, requests are sent all at once: placing them costs more than it gains."""
_LONG_SECONDS = 2e-3
"""Above this, each core gets one request at a time: waking up in between costs little."""
_SHARE = 0.7
"""The share of the work that is assigned at once between these; the rest balances errors."""


def exchange(channels: list[Channel], seconds: list[float] | None = None) -> None:
    """Send the requests that `channels` hold and wait for a reply on each; `gather` raises errors.

    With `seconds`, the expected duration of each, they are assigned to the cores in turn, the
    longest first.
    """
    wave = "wave", get_ident()  # the next wave replaces one that was interrupted
    try:
        waiting = busy_workers.enter(wave, len(channels))
        if seconds is not None and sum(seconds) > _SHORT_SECONDS * len(channels):
            share = _SHARE if sum(seconds) < _LONG_SECONDS * len(channels) else 0.0
            timed, late = exchange_in_turn(channels, seconds, share, _LATE_SECONDS)
            if timed:
                busy_workers.took_turns(was_late=late > timed * _MANY)
        else:
            awake_seconds = CLIENT_AWAKE_SECONDS if busy_workers.worker_may_look else 0.0
            first = awake_seconds if waiting < busy_workers.cores else 0.0
            exchange_at_once(channels, first, awake_seconds)
    finally:
        busy_workers.leave(wave)


class Unfinished(Protocol):
    """An operation that may take several requests: a connection, or a pending result."""

    @property
    def channel(self) -> Channel | None:
        """The channel with the next request, if one is held back."""
        ...

    def advance(self) -> bool:
        """Read a reply and prepare the next request; return True if there is none."""
        ...


def finish(pending: Iterable[Unfinished]) -> None:
    """Complete pending requests concurrently, so that reading their results does not block."""
    waiting = [request for request in pending if not request.advance()]
    while waiting:
        channels = [request.channel for request in waiting]
        exchange([channel for channel in channels if channel is not None])
        waiting = [request for request in waiting if not request.advance()]
