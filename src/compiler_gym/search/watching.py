# SPDX-License-Identifier: MIT
"""The progress reports of a running search and the interface of their receiver."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

__all__ = ["Improvement", "SearchProgress", "SearchWatcher", "Silent"]


@dataclass(frozen=True, slots=True)
class Improvement:
    """A sequence that is better than all before it on its program."""

    program: int
    """The index of the program in the list of programs."""
    benchmark: str
    seconds: float
    """Wall time since the start of the search."""
    steps: int
    """New actions tried on this program so far."""
    sequences: int
    """Sequences walked on this program so far."""
    reward: float
    actions: tuple[int, ...]
    """The sequence, as action numbers from zero."""


@dataclass(frozen=True, slots=True)
class SearchProgress:
    """The progress of one program's search."""

    benchmark: str
    reward: float
    """The best reward so far."""
    length: int
    """The length of the best sequence."""
    steps: int
    sequences: int
    failures: int
    phase: str
    """``waiting``, ``searching``, ``minimising`` or ``done``."""


class SearchWatcher(Protocol):
    """Receiver of the reports of a search, in the thread that called it.

    If a watcher raises an exception, the search stops and passes it on.
    """

    def improved(self, improvement: Improvement) -> None:
        """Receive a better sequence."""
        ...

    def tick(self, seconds: float, programs: Sequence[SearchProgress]) -> None:
        """Receive the progress of all programs; called a few times a second."""
        ...


class Silent:
    """A watcher that does nothing."""

    def improved(self, improvement: Improvement) -> None:
        """Do nothing."""

    def tick(self, seconds: float, programs: Sequence[SearchProgress]) -> None:
        """Do nothing."""
