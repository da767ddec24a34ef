# SPDX-License-Identifier: MIT
"""All options of a search, except its programs and their environment."""

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

_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """The options of a search.

    A single declaration of a field makes it an option of ``compiler-gym search``, a keyword of
    `run_search`, and part of the record in a run folder. Raises `InvalidParameterError` for a
    number out of its range.

        >>> SearchOptions(steps=150, jobs=2).algorithm
        'portfolio'
    """

    algorithm: str = option("portfolio", "random, greedy, e-greedy, local or portfolio")
    seconds: float | None = option(
        None,
        f"Time for all programs together: 90 (seconds), 10m or 1h [default: {_SECONDS:g} "
        "without --steps]",
        ABOVE_0,
        spelling=Spelling("time", type=str, read=seconds_in),
    )
    steps: int | None = option(
        None, "Number of actions to try on each program; reproducible, unlike --time", WHOLE_ABOVE_0
    )
    jobs: int | None = option(
        None, "Number of threads [default: one per processor]", WHOLE_ABOVE_0, may_change=True
    )
    seed: int = option(0, "Random seed; the result is reproducible together with --steps")
    starts: Sequence[str | Sequence[int]] | None = option(
        None,
        "Starting sequence: actions separated by spaces, or 'recipe small'; can be repeated",
        spelling=Spelling("start", type=list[str]),
    )
    """Initial sequences, as names separated by blanks or as numbers from zero. The default is the
    standard levels and known sequences; standard levels are added after given sequences, and an
    empty list means no initial sequences."""
    step_seconds: float = option(
        10.0, "Time limit in seconds for one action; a slower one counts as failed", ABOVE_0
    )
    level_seconds: float = option(
        300.0, "Time limit in seconds for a standard level (-Oz, ...)", ABOVE_0
    )
    kept_processes: int = option(
        128,
        "Forked processes to keep alive, so that sequences can be continued from them; 0 "
        "replays instead",
        FROM_0,
        may_change=True,
    )
    kept_bytes: float = option(
        1 << 30,
        "Memory limit in GiB for these processes",
        FROM_0,
        may_change=True,
        spelling=Spelling("kept_gib", 1 << 30),
    )

    def __post_init__(self) -> None:
        check(self)

    @property
    def seconds_allowed(self) -> float | None:
        """The time limit in seconds: a default if nothing else ends the search."""
        return _SECONDS if self.seconds is None and self.steps is None else self.seconds
