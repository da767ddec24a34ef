# SPDX-License-Identifier: MIT
"""Spaces made of other spaces: Gymnasium's `Dict`, `Tuple` and `Sequence` with a name."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

import gymnasium
import numpy as np

from compiler_gym.spaces.base import NamedSpace
from compiler_gym.spaces.sequence import check_range, random_length

if TYPE_CHECKING:
    _Tuple = gymnasium.spaces.Tuple[Any]
else:  # a class without type parameters in older releases of Gymnasium
    _Tuple = gymnasium.spaces.Tuple


class Dict(NamedSpace, gymnasium.spaces.Dict):
    """Gymnasium's Dict with a name.

    As in Gymnasium, a mapping is sorted by its keys and a list of pairs keeps its order.

    >>> from compiler_gym.spaces import Discrete
    >>> space = Dict({"unroll": Discrete(4, name="unroll")}, name="loop")
    >>> space.to_string([{"unroll": 3}])
    '[{"unroll": 3}]'
    """

    def __init__(
        self,
        spaces: Mapping[str, gymnasium.Space[Any]] | Iterable[tuple[str, gymnasium.Space[Any]]],
        name: str,
        *,
        seed: Any = None,
    ) -> None:
        if isinstance(spaces, Mapping):
            items = cast("dict[str, gymnasium.Space[Any]]", spaces)  # Gymnasium takes any mapping
        else:
            items = list(spaces)
        super().__init__(items, seed)  # pyright: ignore[reportUnknownMemberType]  # of `seed`
        self.name = name

    def __eq__(self, other: object) -> bool:
        # Gymnasium ignores the order of the keys, although it is that of flat observations.
        return super().__eq__(other) and list(self) == list(other)  # type: ignore[call-overload]  # same class


class Tuple(NamedSpace, _Tuple):
    """Gymnasium's Tuple with a name.

    >>> from compiler_gym.spaces import Discrete
    >>> space = Tuple([Discrete(4, name="a"), Discrete(2, name="b")], name="pair")
    >>> space.contains((3, 1)), space.contains((3, 2)), space.contains([3, 1])
    (True, False, True)
    """

    def __init__(
        self, spaces: Iterable[gymnasium.Space[Any]], name: str, *, seed: Any = None
    ) -> None:
        super().__init__(spaces, seed)
        self.name = name

    def contains(self, x: Any) -> bool:
        """Return whether `x` is a tuple, list or array with one member of each space."""
        if isinstance(x, np.ndarray) and x.ndim == 0:
            return False
        return super().contains(x)


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
