# SPDX-License-Identifier: MIT
"""What a tuning is for, and what follows from it."""

from enum import StrEnum

from compiler_gym.errors import InvalidParameterError

__all__ = ["Goal"]


class Goal(StrEnum):
    """What should become better. Plans, JSON and the command line write its value.

    >>> Goal("speed").shown(0.25), Goal.SIZE.shown(1500)
    ('0.25 s', '1,500 bytes')
    """

    unit: str
    """Of what is measured."""
    better: str
    """What a binary has to be, in a sentence that denies it."""
    _format: str

    SIZE = "size", "bytes", "smaller", ",.0f"
    SPEED = "speed", "s", "surely faster", ",.4g"
    BOTH = "both", "s", "smaller and no slower", ",.4g"

    def __new__(cls, value: str, unit: str = "", better: str = "", format: str = "") -> "Goal":
        """Return the member that is written as `value`."""
        made = str.__new__(cls, value)
        made._value_ = value
        made.unit, made.better, made._format = unit, better, format
        return made

    @classmethod
    def _missing_(cls, value: object) -> "Goal":
        raise InvalidParameterError(f"goal is {value!r}: expected {' or '.join(cls)}")

    @property
    def counts_bytes(self) -> bool:
        """Whether bytes decide; otherwise runs do, of a command of the user's."""
        return self is Goal.SIZE

    def number(self, cost: float) -> str:
        """Return a cost as people read it."""
        return f"{cost:{self._format}}"

    def shown(self, cost: float) -> str:
        """Return a cost with its unit."""
        return f"{self.number(cost)} {self.unit}"
