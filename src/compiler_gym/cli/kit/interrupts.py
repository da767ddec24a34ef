# SPDX-License-Identifier: MIT
"""Ctrl-C, SIGTERM and a closed pipe end a command in order.

Ctrl-C is a request: it is recorded at once and obeyed at the next point where work can stop,
because an exception at an arbitrary point could lose a result. A second Ctrl-C does raise one.
A reader of our output may end first, as in ``compiler-gym envs | head -1``.
"""

import os
import signal
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

__all__ = [
    "READER_LEFT",
    "Interrupts",
    "exit_when_terminated",
    "leaving_with_the_reader",
    "reader_left",
]


def exit_when_terminated() -> None:
    """Make SIGTERM raise ``SystemExit``, with the exit status that a shell shows for the signal.

    A process that the signal ends does not wait for its compilers' processes. They end too, but
    in a container without an init, which reaps orphans, each would remain as a
    zombie.
    """
    signal.signal(signal.SIGTERM, _exit)


def _exit(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


class Interrupts:
    """Records Ctrl-C and SIGTERM between ``with Interrupts() as interrupts:`` and its end."""

    def __init__(self) -> None:
        self.requested = False
        """True if the user wants to stop."""
        self._before: dict[int, Any] = {}

    def check(self) -> None:
        """Raise ``KeyboardInterrupt`` if the user wants to stop."""
        if self.requested:
            raise KeyboardInterrupt

    def __enter__(self) -> "Interrupts":
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *args: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True


READER_LEFT = 128 + signal.SIGPIPE
"""The exit status in that case: a shell shows the same for a tool that SIGPIPE ended.

The signal itself stays ignored, because it would also end us when a worker dies.
"""


@contextmanager
def leaving_with_the_reader() -> Generator[None]:
    """Exit with that status if something inside cannot be written any more."""
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        _write_to_nobody()
        raise SystemExit(READER_LEFT) from None


def reader_left() -> NoReturn:
    """Raise the error of a write to a closed pipe, instead of a library's own exit."""
    raise BrokenPipeError


def _write_to_nobody() -> None:
    """Discard output that is still buffered, or Python complains at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
