# SPDX-License-Identifier: MIT
"""Several requests at once: the core that computes each, and the reply to await first.

With at most as many workers as cores, all compute at once and the kernel places them. With
more, each core gets a share: the kernel would put them all on a core at once, so that the first
few passes end late, with each other's data in the caches, and a core that has finished its
share would idle while workers wait for another core.
"""

from collections.abc import Iterable
from threading import get_ident
from typing import Protocol

from compiler_gym._service import exchange_at_once, exchange_in_turn
from compiler_gym.service.busy_workers import CLIENT_AWAKE_SECONDS, busy_workers
from compiler_gym.service.transport import Channel

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
