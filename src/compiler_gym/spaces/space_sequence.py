# SPDX-License-Identifier: MIT
"""Any number of values of another space."""

from typing import Any, cast

import gymnasium

from compiler_gym.spaces._lengths import check_range, random_length
from compiler_gym.spaces._named import NamedSpace

__all__ = ["SpaceSequence"]


class SpaceSequence(NamedSpace, gymnasium.spaces.Sequence):
    """Gymnasium's Sequence with a name and bounds on its length.

    >>> from compiler_gym.spaces import Discrete
    >>> space = SpaceSequence("calls", Discrete(3, name="call"), size_range=(1, 2))
    >>> space.contains((0, 2)), space.contains(()), space.contains([3])
    (True, False, False)
    """

    def __init__(
        self,
        name: str,
        space: gymnasium.Space[Any],
        size_range: tuple[int, int | None] = (0, None),
        *,
        seed: Any = None,
    ) -> None:
        super().__init__(space, seed)
        self.name = name
        self.size_range = check_range(size_range)
        """The least and the greatest length; None is unlimited."""

    @property
    def space(self) -> gymnasium.Space[Any]:
        """The space of each item."""
        return self.feature_space

    def sample(self, mask: Any = None, probability: Any = None) -> tuple[Any, ...]:
        """Return random items; the mask is ``(length, mask of the items)``, and either may be None.

        `probability` has the same form. The length may be an array, to draw from; without one it is
        geometric from the shortest.
        """
        length = random_length(self, mask, probability)
        arguments = {} if mask is None else {"mask": mask[1]}
        if probability is not None:
            arguments = {"probability": probability[1]}
        return tuple(self.feature_space.sample(**arguments) for _ in range(length))

    def contains(self, x: Any) -> bool:
        """Return whether `x` is a tuple or list of members, of a length within bounds."""
        shortest, longest = self.size_range
        if not isinstance(x, (list, tuple)):
            return False
        items = cast("list[Any] | tuple[Any, ...]", x)
        return (
            shortest <= len(items)
            and (longest is None or len(items) <= longest)
            and all(map(self.feature_space.contains, items))
        )

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other) and self.size_range == other.size_range  # type: ignore[attr-defined]  # same class

    def __repr__(self) -> str:
        shortest, longest = self.size_range
        return (
            f"SpaceSequence({self.feature_space!r}, "
            f"[{shortest}, {'inf' if longest is None else longest}])"
        )
