# SPDX-License-Identifier: MIT
"""Several requests at once: on which core each is computed, and whose reply is awaited first.

With as many workers as cores or fewer, all compute at once and the kernel places them. With
more, each core gets its own: the kernel would put them all on a core at once, where the first
few of their passes end late, with each other's data in the caches, and a core that has done
its share would lie idle while others wait for another one.
"""

from collections.abc import Iterable
from threading import get_ident

from compiler_gym._line import exchange_at_once, exchange_in_turn
from compiler_gym.service.connection import Connection
from compiler_gym.service.crowd import CLIENT_AWAKE_SECONDS, crowd
from compiler_gym.service.transport import Channel

__all__ = ["exchange", "finish"]

_LATE_SECONDS = 1e-3
"""A reply that comes so much later than it was computed had no core: others have it."""
_MANY = 0.125
"""The share of a wave's replies that must be late before its cores are taken to be wanted."""
_SHORT_SECONDS, _LONG_SECONDS = 150e-6, 2e-3
"""What is expected on average where nothing is won by being woken in between, and where all that
is won: below the one all requests are given out at once, above the other one to each core."""
_SHARE = 0.7
"""How much is given out at once between them; the rest corrects what was expected."""


def exchange(channels: list[Channel], seconds: list[float] | None = None) -> None:
    """Send what `channels` hold and wait for a reply on each; what goes wrong is for `gather`.

    With `seconds`, what each is expected to take, they are given to the cores in turn, the
    longest first.
    """
    wave = "wave", get_ident()  # the next one takes the place of one that was interrupted
    try:
        waiting = crowd.enter(wave, len(channels))
        if seconds is None:
            awake_seconds = CLIENT_AWAKE_SECONDS if crowd.worker_may_look else 0.0
            first = awake_seconds if waiting < crowd.cores else 0.0
            exchange_at_once(channels, first, awake_seconds)
        elif seconds:
            share = _share(sum(seconds) / len(seconds))
            timed, late = exchange_in_turn(channels, seconds, share, _LATE_SECONDS)
            if timed:
                crowd.took_turns(was_late=late > timed * _MANY)
    finally:
        crowd.leave(wave)


def finish(connections: Iterable[Connection]) -> None:
    """Do what is left of requests side by side, so that `gather` has nothing to wait for."""
    left = [connection for connection in connections if not connection.advance()]
    while left:
        channels = [connection.channel for connection in left]
        exchange([channel for channel in channels if channel is not None])
        left = [connection for connection in left if not connection.advance()]


def _share(seconds: float) -> float:
    """Return how much of requests that take so long on average is given out at once."""
    if seconds < _SHORT_SECONDS:
        return 1.0
    return _SHARE if seconds < _LONG_SECONDS else 0.0
