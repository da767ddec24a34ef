# SPDX-License-Identifier: MIT
"""Everything that can be chosen of a search, beside its programs and their environment."""

from collections.abc import Sequence
from dataclasses import dataclass

from compiler_gym.options.declaring import (
    ABOVE_0,
    FROM_0,
    WHOLE_ABOVE_0,
    Spelling,
    check,
    option,
    seconds_in,
)

__all__ = ["SearchOptions"]

_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """What a search is told.

    A field is an option of ``compiler-gym search``, a keyword of `run_search`, and part of
    what a run folder keeps, from its declaration here alone. Raises `InvalidParameterError`
    for a number out of its range.

        >>> SearchOptions(steps=150, jobs=2).algorithm
        'portfolio'
    """

    algorithm: str = option("portfolio", "random, greedy, e-greedy, local or portfolio")
    seconds: float | None = option(
        None,
        f"How long for all programs together: 90, 10m, 1h [default: {_SECONDS:g} without --steps]",
        ABOVE_0,
        spelling=Spelling("time", type=str, read=seconds_in),
    )
    steps: int | None = option(
        None, "Actions to try on each program; unlike --time, the same result again", WHOLE_ABOVE_0
    )
    jobs: int | None = option(
        None, "Threads [default: one per processor]", WHOLE_ABOVE_0, may_change=True
    )
    seed: int = option(0, "The same seed and --steps give the same result")
    starts: Sequence[str | Sequence[int]] | None = option(
        None,
        "Actions to begin with, separated by blanks, or: recipe small; may be repeated",
        spelling=Spelling("start", type=list[str]),
    )
    """Sequences to begin with, as names separated by blanks or as numbers from zero. By default
    the standard levels and known sequences; levels follow those that are given, and an empty
    list starts from nothing."""
    step_seconds: float = option(
        10.0, "Seconds that one action may take; a longer one counts as failed", ABOVE_0
    )
    level_seconds: float = option(
        300.0, "Seconds that a standard level (-Oz, ...) may take", ABOVE_0
    )
    kept_processes: int = option(
        128,
        "Processes kept in the middle of episodes, to go on from; 0: replay them",
        FROM_0,
        may_change=True,
    )
    kept_bytes: float = option(
        1 << 30,
        "GiB of memory that they may hold",
        FROM_0,
        may_change=True,
        spelling=Spelling("kept_gib", 1 << 30),
    )

    def __post_init__(self) -> None:
        check(self)

    @property
    def seconds_allowed(self) -> float | None:
        """The bound in seconds: a default where nothing else ends the search."""
        return _SECONDS if self.seconds is None and self.steps is None else self.seconds
