# SPDX-License-Identifier: MIT
"""Ctrl-C as a request: recorded at once, obeyed at the next point where work can stop.

An exception at an arbitrary point could lose a result. A second Ctrl-C does raise one. Outside
of this context, SIGTERM is an orderly exit.
"""

import signal
import threading
from types import FrameType
from typing import Any, NoReturn

__all__ = ["Interrupts", "exit_when_terminated"]


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
