# SPDX-License-Identifier: MIT
"""Several requests at once: on which core each is computed, and whose reply is awaited first.

With as many workers as cores or fewer, all compute at once and the kernel places them. With
more, each core gets its own: the kernel would put them all on a core at once, where the first
few of their passes end late, with each other's data in the caches, and a core that has done
its share would lie idle while others wait for another one.
"""

from collections.abc import Iterable
from threading import get_ident
from typing import Protocol

from compiler_gym._service import exchange_at_once, exchange_in_turn
from compiler_gym.service.busy_workers import CLIENT_AWAKE_SECONDS, busy_workers
from compiler_gym.service.transport import Channel

__all__ = ["exchange", "finish"]

_LATE_SECONDS = 1e-3
"""A reply that comes so much later than it was computed had no core: others have it."""
_MANY = 0.125
"""The share of a wave's replies that must be late before its cores are taken to be wanted."""
_SHORT_SECONDS = 100e-6
"""Below this on average all requests are sent at once: to place them takes as long as it wins."""
_LONG_SECONDS = 2e-3
"""Above this each core gets one at a time: to be woken in between costs little of it."""
_SHARE = 0.7
"""How much of the work is given out at once between them; the rest corrects what was expected."""


def exchange(channels: list[Channel], seconds: list[float] | None = None) -> None:
    """Send what `channels` hold and wait for a reply on each; what goes wrong is for `gather`.

    With `seconds`, what each is expected to take, they are given to the cores in turn, the
    longest first.
    """
    wave = "wave", get_ident()  # the next one takes the place of one that was interrupted
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
    """What may take several requests: a connection, or what is pending on one."""

    @property
    def channel(self) -> Channel | None:
        """What holds the next request, if one is kept back."""
        ...

    def advance(self) -> bool:
        """Take a reply and hold what comes next; return True when nothing does."""
        ...


def finish(several: Iterable[Unfinished]) -> None:
    """Do what is left of requests side by side, so that their results need no waiting."""
    left = [one for one in several if not one.advance()]
    while left:
        channels = [one.channel for one in left]
        exchange([channel for channel in channels if channel is not None])
        left = [one for one in left if not one.advance()]
