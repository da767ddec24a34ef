# SPDX-License-Identifier: MIT
"""The limits of an environment's worker, which ``service`` enforces."""

from dataclasses import dataclass

from compiler_gym.options.declaring import (
    ABOVE_0,
    FROM_0,
    WHOLE_FROM_0,
    Range,
    Spelling,
    check,
    option,
)

_MOST_SECONDS = 100 * 366 * 86400.0
"""The clock of a deadline counts nanoseconds in 64 bits."""
_DEADLINE = Range("a number above 0, up to a century", lambda value: 0 < value < _MOST_SECONDS)


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one environment's worker.

    Raises `InvalidParameterError` for an invalid limit (text, NaN, a negative number) and
    `UnknownNameError` for an unknown sandbox.

        >>> Limits(memory_bytes=1 << 30).memory_bytes
        1073741824
    """

    step_seconds: float = option(
        300.0, "Time limit in seconds for one action or observation", _DEADLINE
    )
    """The deadline of a request without its own."""
    memory_bytes: int = option(
        8 << 30,
        "Memory limit in GiB for the compiler",
        WHOLE_FROM_0,
        may_change=True,
        spelling=Spelling("memory_gib", 1 << 30, ABOVE_0),
    )
    """Address space of the worker (RLIMIT_AS); 0 is unlimited."""
    growth: float = option(64.0, range=FROM_0)
    """An action may grow the program to this multiple of its size at reset; 0 is unlimited."""
    growth_floor: int = option(100_000, range=WHOLE_FROM_0)
    """Programs below this size (in the compiler's own unit) may always grow to it."""
    kept_programs: int = option(32, range=WHOLE_FROM_0)
    """Number of repeatedly opened programs that stay loaded, each in a process for all environments
    of this process: a reset to such a program forks that process. 0 keeps none."""
    kept_bytes: int = option(2 << 30, range=WHOLE_FROM_0)
    """Approximate bound of their total memory. The least recently used ones are dropped first."""
    sandbox: str | None = option(None)
    """The name of the `Sandbox` for observations that run the program, or None for
    ``COMPILER_GYM_SANDBOX`` and otherwise the strongest that this machine offers."""

    def __post_init__(self) -> None:
        if self.sandbox is not None:
            from compiler_gym.sandbox import Sandbox

            Sandbox.find(self.sandbox)
        check(self)
