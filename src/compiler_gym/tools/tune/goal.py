# SPDX-License-Identifier: MIT
"""The goals of a tuning, and the units and words of each."""

from enum import StrEnum

from compiler_gym.errors import InvalidParameterError

__all__ = ["Goal"]


class Goal(StrEnum):
    """The goal of a tuning. Plans, JSON and the command line write its value.

    >>> Goal("speed").shown(0.25), Goal.SIZE.shown(1500)
    ('0.25 s', '1,500 bytes')
    """

    SIZE = "size"
    SPEED = "speed"
    BOTH = "both"

    @classmethod
    def _missing_(cls, value: object) -> "Goal":
        raise InvalidParameterError(f"goal is {value!r}: expected {' or '.join(cls)}")

    @property
    def counts_bytes(self) -> bool:
        """True if bytes are measured; otherwise it is the time of the user's command."""
        return self is Goal.SIZE

    @property
    def unit(self) -> str:
        """The unit of what is measured."""
        return "bytes" if self.counts_bytes else "s"

    @property
    def better(self) -> str:
        """The words between "nothing" and "than" where no better binary is found."""
        return {"size": "smaller", "speed": "surely faster"}.get(self, "smaller and no slower")

    def number(self, cost: float) -> str:
        """Return a cost as people read it."""
        return f"{cost:,.0f}" if self.counts_bytes else f"{cost:,.4g}"

    def format_cost(self, cost: float) -> str:
        """Return a cost with its unit."""
        return f"{self.number(cost)} {self.unit}"
