# SPDX-License-Identifier: MIT
"""Spaces made of other spaces: Gymnasium's `Dict` and `Tuple` with a name."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

import gymnasium
import numpy as np

from compiler_gym.spaces._named import NamedSpace

if TYPE_CHECKING:
    _Tuple = gymnasium.spaces.Tuple[Any]
else:  # a class without type parameters in older releases of Gymnasium
    _Tuple = gymnasium.spaces.Tuple

__all__ = ["Dict", "Tuple"]


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
