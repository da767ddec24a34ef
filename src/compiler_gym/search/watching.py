# SPDX-License-Identifier: MIT
"""What a running search reports, and to whom. Nothing here prints."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

__all__ = ["Improvement", "Progress", "Silent", "Watcher"]


@dataclass(frozen=True, slots=True)
class Improvement:
    """A better sequence than any before it on its program."""

    program: int
    """The place of the program in the list that is searched."""
    benchmark: str
    seconds: float
    """Since the start of the search."""
    steps: int
    """New actions tried on this program so far."""
    sequences: int
    """Sequences walked on this program so far."""
    reward: float
    actions: tuple[int, ...]
    """As numbers from zero."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one program is."""

    benchmark: str
    reward: float
    """The best so far."""
    length: int
    """How many actions earn it."""
    steps: int
    sequences: int
    failures: int
    phase: str
    """``waiting``, ``searching``, ``minimising`` or ``done``."""


class Watcher(Protocol):
    """Is told how a search goes, in the thread that called it.

    A watcher may raise: the search then stops and the exception passes through.
    """

    def improved(self, improvement: Improvement) -> None:
        """Take note of a better sequence."""
        ...

    def tick(self, seconds: float, programs: Sequence[Progress]) -> None:
        """Take note of the time; called a few times a second."""
        ...


class Silent:
    """A watcher that does nothing."""

    def improved(self, improvement: Improvement) -> None:
        """Do nothing."""

    def tick(self, seconds: float, programs: Sequence[Progress]) -> None:
        """Do nothing."""
