# SPDX-License-Identifier: MIT
"""Choices that are pieces of a command line.

The compiler determines how pieces form a command line: here they are joined with blanks, and a
subclass with another rule overrides `to_string` and `from_string`.
"""

from collections.abc import Iterable
from typing import Any, ClassVar, NamedTuple, SupportsIndex

import numpy as np

from compiler_gym.spaces._words import Words
from compiler_gym.spaces.named_discrete import NamedDiscrete

__all__ = ["Commandline", "CommandlineFlag"]


class CommandlineFlag(NamedTuple):
    """One piece of a command line."""

    name: str
    """A short name without blanks, such as ``LoopUnroll``."""
    flag: str
    """The text on the command line, such as ``-funroll-loops``."""
    description: str
    """The effect, for people."""

    def __deepcopy__(self, memo: dict[int, Any]) -> "CommandlineFlag":
        """Return itself, because it is immutable and a fork copies hundreds."""
        return self


class Commandline(NamedDiscrete):
    """A `NamedDiscrete` whose values are pieces of a command line.

    >>> space = Commandline(
    ...     [
    ...         CommandlineFlag("unroll", "-funroll-loops", "Unroll loops"),
    ...         CommandlineFlag("native", "-march native", "Use this processor"),
    ...     ],
    ...     name="flags",
    ... )
    >>> space.to_string([1, 0])
    '-march native -funroll-loops'
    >>> space.from_string("-march native -funroll-loops")
    [1, 0]
    >>> space["native"], space.flags[1], space.descriptions[1]
    (1, '-march native', 'Use this processor')
    """

    flags_differ: ClassVar[bool] = True
    """True if no two values have the same flag; `from_string` depends on it."""

    def __init__(
        self,
        items: Iterable[CommandlineFlag],
        name: str,
        *,
        seed: int | np.random.Generator | None = None,
        repeated: bool = False,
    ) -> None:
        self.items = [CommandlineFlag(*item) for item in items]
        """The name, the flag and the description of each value, in order."""
        super().__init__((item.name for item in self.items), name, seed=seed, repeated=repeated)
        self.flags = [item.flag for item in self.items]
        """The flag of each value, in order."""
        self.descriptions = [item.description for item in self.items]
        """The description of each value, in order."""
        self._flag_words = Words(self.flags if self.flags_differ else (), "flag", repeated=repeated)

    def to_string(self, actions: SupportsIndex | Iterable[SupportsIndex]) -> str:
        """Return the command line of `actions`, which is one value or several.

        Raises `InvalidActionError` for a value outside the space.
        """
        return self._join(actions, self.flags)

    def from_string(self, string: str) -> list[int]:
        """Return the values whose flags make up the command line `string`.

        Raises `UnknownNameError` for a flag that is not in the space.
        """
        return self._flag_words.find(string)

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other) and self.items == other.items  # type: ignore[attr-defined]  # same class
