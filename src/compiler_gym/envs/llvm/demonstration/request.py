# SPDX-License-Identifier: MIT
"""What the command line hands to the demonstration."""

from typing import Protocol

__all__ = ["Interrupts"]


class Interrupts(Protocol):
    """Ctrl-C as a request."""

    @property
    def requested(self) -> bool:
        """Whether somebody asked to stop."""
        ...

    def check(self) -> None:
        """Raise ``KeyboardInterrupt`` if somebody asked to stop."""
        ...
