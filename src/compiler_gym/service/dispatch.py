# SPDX-License-Identifier: MIT
"""Several requests at once: on which core each is computed, and whose reply is awaited first.

With as many workers as cores or fewer, all compute at once and the kernel places them. With
more, each core gets one at a time, and the next when that one is done. The kernel would put
them all on a core at once: the first few of their passes end late, with each other's data in
the caches, and a core that has done its share lies idle while others wait for another one.
"""

from collections.abc import Iterable

from compiler_gym._line import exchange_at_once, exchange_in_turn
from compiler_gym.service.connection import Connection
from compiler_gym.service.crowd import CLIENT_AWAKE_SECONDS, crowd
from compiler_gym.service.transport import Channel

__all__ = ["exchange", "finish"]

_LATE_SECONDS = 1e-3
"""A reply that is on its way for so long had no core: others have it."""
_MANY = 0.125
"""The share of a wave's replies that must be late before its cores are taken to be wanted."""


def exchange(channels: list[Channel], *, in_turn: bool = False) -> None:
    """Send what `channels` hold and wait for a reply on each; what goes wrong is for `gather`.

    With `in_turn` they are sent in their order, when a core is free for one.
    """
    key = id(channels)
    crowd.enter(key, len(channels))
    try:
        if in_turn:
            timed, late = exchange_in_turn(channels, _LATE_SECONDS)
            if timed:
                crowd.took_turns(was_late=late > timed * _MANY)
        else:
            awake_seconds = CLIENT_AWAKE_SECONDS if crowd.worker_may_look else 0.0
            first = awake_seconds if crowd.client_may_look else 0.0
            exchange_at_once(channels, first, awake_seconds)
    finally:
        crowd.leave(key)


def finish(connections: Iterable[Connection]) -> None:
    """Do what is left of requests side by side, so that `gather` has nothing to wait for."""
    left = list(connections)
    while left:
        left = [connection for connection in left if not connection.advance()]
