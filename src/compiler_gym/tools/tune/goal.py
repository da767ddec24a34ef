# SPDX-License-Identifier: MIT
"""The goals of a tuning, and how their results are written."""

from enum import StrEnum

from compiler_gym.errors import InvalidParameterError

__all__ = ["Goal"]


class Goal(StrEnum):
    """The goal of a tuning. Plans, JSON and the command line use its value.

    >>> Goal("speed").format_cost(0.25), Goal.SIZE.format_cost(1500)
    ('0.25 s', '1,500 bytes')
    """

    SIZE = "size"
    SPEED = "speed"

    @classmethod
    def _missing_(cls, value: object) -> "Goal":
        advice = "use " + " or ".join(cls)
        if value == "both":
            advice = "use size with --max-slowdown 0% to get a smaller program that is no slower"
        raise InvalidParameterError(f"no goal {value!r}: {advice}")

    @property
    def counts_bytes(self) -> bool:
        """True if bytes are measured, False if the time of the user's command is."""
        return self is Goal.SIZE

    @property
    def unit(self) -> str:
        """The unit of the measurements."""
        return "bytes" if self.counts_bytes else "s"

    @property
    def better(self) -> str:
        """The text between "found nothing" and "than" in reports without an improvement."""
        return "smaller" if self.counts_bytes else "significantly faster"

    def number(self, cost: float) -> str:
        """Return a cost as text, without its unit."""
        return f"{cost:,.0f}" if self.counts_bytes else f"{cost:,.4g}"

    def format_cost(self, cost: float) -> str:
        """Return a cost as text, with its unit."""
        return f"{self.number(cost)} {self.unit}"
