# SPDX-License-Identifier: MIT
"""Choices by number: Gymnasium's `Discrete`, `MultiDiscrete` and `MultiBinary` with a name.

Booleans and floats are not members, although Python and numpy would convert them.
"""

from collections.abc import Iterable
from typing import Any, cast

import gymnasium
import numpy as np
from numpy.typing import ArrayLike, NDArray

from compiler_gym.spaces._arrays import make_array
from compiler_gym.spaces._named import NamedSpace
from compiler_gym.spaces._plain import value_from_json
from compiler_gym.spaces.action_part import ActionPart

__all__ = ["Discrete", "MultiBinary", "MultiDiscrete"]

_NUMPY_INTEGERS = frozenset(np.dtype(code).type for code in np.typecodes["AllInteger"])


class Discrete(NamedSpace, gymnasium.spaces.Discrete):
    """Gymnasium's Discrete with a name.

    >>> space = Discrete(3, name="level")
    >>> space.contains(2), space.contains(3), space.contains(2.0), space.contains(True)
    (True, False, False, False)
    """

    def __init__(
        self, n: int, name: str, start: int = 0, *, seed: int | np.random.Generator | None = None
    ) -> None:
        super().__init__(n, seed, start)
        self.name = name
        # Python's integers compare several times faster than numpy's.
        self._first, self._end = int(start), int(start) + int(n)

    def contains(self, x: Any) -> bool:
        """Return whether `x` is an integer in the range. Fast, because every step calls it."""
        kind = type(x)  # pyright: ignore[reportUnknownVariableType]  # of any type
        if kind is int:
            return self._first <= x < self._end
        if kind in _NUMPY_INTEGERS:
            return self._first <= int(x) < self._end
        if isinstance(x, np.ndarray):
            array = cast("NDArray[Any]", x)
            is_integer = array.shape == () and array.dtype.kind in "iu"
            return is_integer and self._first <= int(array) < self._end
        # Enumerations of integers get here; of the subclasses of int, only bool is refused.
        return isinstance(x, int) and kind is not bool and self._first <= int(x) < self._end


class _Arrays(NamedSpace):
    """Numbers in a one-dimensional array; lists are members too."""

    def contains(self, x: Any) -> bool:
        """Return whether `x` is an array, or a list, of integers in range."""
        assert self.shape is not None
        array = make_array(x, np.dtype(np.int64), self.shape)
        if array is None:
            return False
        low, high = self._bounds()
        return bool(np.all(array >= low) and np.all(array <= high))

    def _bounds(self) -> tuple[Any, Any]:
        """Return the least and the greatest number, or arrays of these."""
        raise NotImplementedError

    def to_jsonable(self, sample_n: Any) -> list[Any]:
        """Return values as lists."""
        return [np.asarray(sample).tolist() for sample in sample_n]


class MultiDiscrete(_Arrays, gymnasium.spaces.MultiDiscrete):
    """Gymnasium's MultiDiscrete with a name.

    >>> space = MultiDiscrete([3, 2], name="levels")
    >>> space.contains([2, 1]), space.contains([2, 2])
    (True, False)
    """

    parts: tuple[ActionPart, ...] = ()

    def __init__(
        self,
        nvec: ArrayLike,
        name: str,
        *,
        seed: int | np.random.Generator | None = None,
        parts: Iterable[ActionPart] = (),
    ) -> None:
        super().__init__(np.asarray(nvec, dtype=np.int64), seed=seed)
        self.name = name
        self.parts = tuple(parts)
        """Descriptions of the numbers, if there are any."""

    def _bounds(self) -> tuple[Any, Any]:
        return self.start, self.start + self.nvec - 1


class MultiBinary(_Arrays, gymnasium.spaces.MultiBinary):
    """Gymnasium's MultiBinary with a name.

    >>> space = MultiBinary(3, name="switches")
    >>> space.contains([0, 1, 1]), space.contains([0, 1, 2])
    (True, False)
    """

    def __init__(self, n: int, name: str, *, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(n, seed)
        self.name = name

    def _bounds(self) -> tuple[Any, Any]:
        return 0, 1


@value_from_json.register(MultiBinary)
@value_from_json.register(MultiDiscrete)
def _array_from_json(space: MultiBinary | MultiDiscrete, data: Any) -> NDArray[Any]:
    if not space.contains(data):
        raise ValueError(f"{data!r} is outside the bounds or the shape")
    return np.array(data, dtype=space.dtype)
