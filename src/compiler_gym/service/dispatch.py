# SPDX-License-Identifier: MIT
"""Several requests at once: on which core each is computed, and whose reply is taken when.

With as many workers as cores or fewer, all compute at once and the kernel places them. With
more, each core gets one at a time, and the next when that one is done. The kernel would put
them all on a core at once: the first few of their passes end late, with each other's data in
the caches, and a core that has done its share lies idle while others wait for another one.
"""

import math
import os
import select
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from compiler_gym._line import current_core
from compiler_gym.service.connection import Connection
from compiler_gym.service.crowd import CLIENT_AWAKE_SECONDS, crowd
from compiler_gym.service.transport import Channel, receive_all

__all__ = ["as_answered", "in_turn"]

_LATE_SECONDS = 1e-3
"""A reply that is on its way for so long had no core: others have it."""
_MANY = 0.125
"""The share of a wave's replies that must be late before its cores are taken to be wanted."""
_LONG = 3600.0
"""What is slept at most at a time, in seconds; there are deadlines without an end."""


def as_answered(connections: Mapping[int, Connection | None]) -> Iterable[int]:
    """Return the keys of `connections` in the order in which their replies can be gathered.

    What is done can be taken in while the workers of others compute. With more requests than
    cores what is known comes first, and None last.
    """
    if crowd.worker_may_look:
        _await_nearest_first(connections.values())
        return connections
    return in_turn(connections, {})


def in_turn(
    connections: Mapping[int, Connection | None], seconds: dict[int, float]
) -> Iterator[int]:
    """Yield as `as_answered` returns them the keys of requests that were submitted for later.

    They are sent in the order of the keys, when a core is free for one. `seconds` is told how
    long each took.
    """
    wave = _Wave(connections)
    yield from wave.known
    while wave.is_under_way:
        for key in wave.next():
            yield key
            wave.note(key)
    yield from (key for key, connection in connections.items() if connection is None)
    seconds.update(wave.seconds)
    if wave.seconds:
        crowd.took_turns(was_late=wave.late > len(wave.seconds) * _MANY)


class _Wave:
    """Requests of which each core has one, and others wait for a core."""

    def __init__(self, connections: Mapping[int, Connection | None]) -> None:
        self._connections = connections
        self._poll = select.poll()
        self._key_of: dict[int, int] = {}
        self._core_of: dict[int, int] = {}
        self._began: dict[int, float] = {}
        self._took: dict[int, float] = {}
        self._failed: list[int] = []
        self._earliest = math.inf
        self.known: list[int] = []
        """What there is nothing to wait for."""
        self.seconds: dict[int, float] = {}
        """How long what was kept back took, once it is done."""
        self.late = 0
        """How many of them were on their way for much longer than they were computed."""
        self._held: deque[int] = deque()
        for key, connection in connections.items():
            if connection is not None and connection.is_held:
                self._held.append(key)
            elif connection is not None and self._watch(key, connection) is None:
                self.known.append(key)
        # Ours comes last: it is busy until we sleep.
        here = current_core()
        self._free = sorted(os.sched_getaffinity(0), key=lambda core: core == here)
        self._choices = len(self._free) + 1
        self._send_held(time.monotonic())

    @property
    def is_under_way(self) -> bool:
        """Whether there is something to wait for."""
        return bool(self._key_of or self._held or self._failed)

    def next(self) -> list[int]:
        """Wait, and return the keys whose replies can be gathered; none if it takes longer."""
        answered, self._failed = self._failed, []
        left = 0.0 if answered else min(max(self._earliest - time.monotonic(), 0.0), _LONG)
        came = [number for number, _ in self._poll.poll(left * 1000)]
        now = time.monotonic()
        for number in came if now < self._earliest else self._with_late(came, now):
            if number not in came or self._at(number).advance():
                answered.append(self._end(number, now))
        if self._held:
            self._send_held(now)
        return answered

    def note(self, key: int) -> None:
        """Take in how long the reply to `key`, which was gathered, had taken."""
        took, connection = self._took.get(key), self._connections[key]
        if took is not None and connection is not None and connection.seconds:
            self.seconds[key] = connection.seconds
            self.late += took - connection.seconds > _LATE_SECONDS

    def _with_late(self, came: list[int], now: float) -> list[int]:
        """Return also what is late: it is gathered too, and says so there."""
        at = {number: self._at(number).deadline for number in self._key_of}
        self._earliest = min((deadline for deadline in at.values() if deadline > now), default=now)
        late = [number for number, deadline in at.items() if deadline <= now]
        return list(dict.fromkeys((*came, *late)))

    def _at(self, number: int) -> Connection:
        connection = self._connections[self._key_of[number]]
        assert connection is not None
        return connection

    def _watch(self, key: int, connection: Connection) -> int | None:
        number = connection.fileno()
        if number is None:
            return None
        self._key_of[number] = key
        self._poll.register(number, select.POLLIN)
        self._earliest = min(self._earliest, connection.deadline)
        return number

    def _end(self, number: int, now: float) -> int:
        """Take a request out; its core is free."""
        self._poll.unregister(number)
        key = self._key_of.pop(number)
        if number in self._core_of:
            self._free.append(self._core_of.pop(number))
            self._took[key] = now - self._began.pop(number)
        return key

    def _send_held(self, now: float) -> None:
        while self._free and self._held:
            core = self._free.pop(0)
            key = self._take_for(core)
            connection = self._connections[key]
            assert connection is not None
            connection.send_on(core)
            number = self._watch(key, connection)
            if number is None:  # it could not be sent
                self._free.append(core)
                self._failed.append(key)
            else:
                self._core_of[number], self._began[number] = core, now

    def _take_for(self, core: int) -> int:
        """Return the key of the next to be sent, rather of one that was on `core` before.

        Some of its data are in the caches there.
        """
        place = 0
        for number, key in enumerate(islice(self._held, self._choices)):
            connection = self._connections[key]
            if connection is not None and connection.core == core:
                place = number
                break
        key = self._held[place]
        del self._held[place]
        return key


def _await_nearest_first(connections: Iterable[Connection | None]) -> None:
    """Wait for the replies, for those first whose workers compute on the core that we are on.

    All compute at once, and to be woken for each takes longer than what it would take in.
    When a worker on our core is done the core is free to take replies in. One on another core
    would wake us on this one, and the pass that runs here would wait.
    """
    here = current_core()
    near: list[Channel] = []
    far: list[Channel] = []
    others: list[Connection] = []
    deadline = math.inf
    for connection in connections:
        if connection is None:
            continue
        channel = connection.channel
        if channel is None or connection.is_held:
            others.append(connection)
            continue
        (near if connection.core == here else far).append(channel)
        deadline = min(deadline, connection.deadline)
    if len(near) + len(far) > 1:
        awake_seconds = CLIENT_AWAKE_SECONDS if crowd.client_may_look else 0.0
        receive_all(near + far, deadline, awake_seconds, CLIENT_AWAKE_SECONDS)
    while others:  # side by side, so that `gather` has one reply of each left to wait for
        others = [connection for connection in others if not connection.advance()]
