# SPDX-License-Identifier: MIT
"""A log of events, written by any thread and streamed in the server's event loop."""

import asyncio
import threading
from collections.abc import AsyncGenerator

from compiler_gym_explorer.records import Event

__all__ = ["Log"]

_KEPT_EVENTS = 4096
_ALIVE_SECONDS = 15.0


class Log:
    """Numbered events. Readers start at any event that is still stored."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._events: list[Event] = []
        self._dropped = 0
        self._is_over = False
        self._readers: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}

    def add(self, event: Event) -> None:
        """Append an event; does nothing after `end`."""
        with self._lock:
            if self._is_over:
                return
            self._events.append(event)
            if len(self._events) > _KEPT_EVENTS:
                del self._events[: _KEPT_EVENTS // 2]
                self._dropped += _KEPT_EVENTS // 2
            self._wake()

    def end(self) -> None:
        """Close the log and end its streams."""
        with self._lock:
            self._is_over = True
            self._wake()

    @property
    def next_number(self) -> int:
        """The number of the next event."""
        with self._lock:
            return self._dropped + len(self._events)

    async def read(self, number: int = 0) -> AsyncGenerator[tuple[int, Event] | None]:
        """Yield the events from `number` on, with their numbers, and None as a keep-alive."""
        woken = asyncio.Event()
        with self._lock:
            self._readers[woken] = asyncio.get_running_loop()
        try:
            while True:
                woken.clear()
                with self._lock:
                    number = max(number, self._dropped)
                    events = self._events[number - self._dropped :]
                    is_over = self._is_over
                for event in events:
                    yield number, event
                    number += 1
                if is_over and not events:
                    return
                if events:
                    continue
                try:
                    await asyncio.wait_for(woken.wait(), _ALIVE_SECONDS)
                except TimeoutError:
                    yield None
        finally:
            with self._lock:
                self._readers.pop(woken, None)

    def _wake(self) -> None:
        for reader, loop in self._readers.items():
            if not loop.is_closed():
                loop.call_soon_threadsafe(reader.set)
