# SPDX-License-Identifier: MIT
"""Arrays of numbers within bounds: `Box` has one shape, `FreeBox` many.

Gymnasium's Box cannot sample integers up to the largest of their type, and accepts lists of
fractions for integers. Ours can sample them and rejects such lists.
"""

from typing import Any, cast

import gymnasium
import numpy as np
from numpy.typing import DTypeLike, NDArray

from compiler_gym.spaces.base import NamedSpace, refuse_masks, value_from_json


class Box(NamedSpace, gymnasium.spaces.Box):
    """Gymnasium's Box with a name.

    >>> import numpy as np
    >>> counts = Box(0, 2**63 - 1, name="counts", shape=(3,), dtype=np.int64, seed=0)
    >>> counts.contains(counts.sample())
    True
    >>> counts.contains(np.array([0.5, 1.0, 2.0]))
    False
    """

    def __init__(
        self,
        low: Any,
        high: Any,
        name: str,
        shape: tuple[int, ...] | None = None,
        dtype: DTypeLike = np.float32,
        *,
        seed: int | np.random.Generator | None = None,
    ) -> None:
        super().__init__(low, high, shape, dtype, seed)  # type: ignore[arg-type]  # Gymnasium wants a type
        self.name = name

    def sample(self, mask: None = None, probability: None = None) -> NDArray[Any]:
        """Return a random array; bounded integers are uniform over their whole range."""
        refuse_masks(self, mask, probability)
        if self.dtype.kind in "iu" and self.is_bounded():
            low: Any = self.low
            high: Any = self.high
            values = self.np_random.integers(low, high, endpoint=True, dtype=self.dtype)
            return np.asarray(values)
        return super().sample()

    def contains(self, x: Any) -> bool:
        """Return whether `x` is an array, or a list of numbers, of this shape and range."""
        array = make_array(x, self.dtype, self.shape)
        return array is not None and _is_within(array, self.low, self.high)

    def to_jsonable(self, sample_n: Any) -> list[Any]:
        """Return values as nested lists."""
        return [np.asarray(sample).tolist() for sample in sample_n]

    def from_jsonable(self, sample_n: Any) -> list[NDArray[Any]]:
        """Return nested lists as arrays."""
        return [value_from_json(self, data) for data in sample_n]

    def __eq__(self, other: object) -> bool:
        # Gymnasium compares bounds with a tolerance, which merges large integers.
        return (
            super().__eq__(other)
            and np.array_equal(self.low, other.low)  # type: ignore[attr-defined]  # same class
            and np.array_equal(self.high, other.high)  # type: ignore[attr-defined]  # same class
        )


class FreeBox(NamedSpace):
    """Arrays of numbers in ``[low, high]``; an axis of -1 has any length.

    >>> import numpy as np
    >>> rows = FreeBox(0, 9, name="rows", shape=(-1, 2), dtype=np.int64)
    >>> rows.contains(np.array([[1, 2], [3, 4], [5, 6]])), rows.contains(np.array([1, 2]))
    (True, False)
    """

    def __init__(
        self,
        low: float,
        high: float,
        name: str,
        shape: tuple[int, ...] = (-1,),
        dtype: DTypeLike = np.float32,
        *,
        seed: int | np.random.Generator | None = None,
    ) -> None:
        self.name = name
        self.axes = tuple(int(axis) for axis in shape)
        """The length of each axis, -1 if it is free."""
        if -1 not in self.axes or min(self.axes) < -1:
            raise ValueError(f"expected a shape with an axis of -1, got {self.axes}")
        super().__init__(None, dtype, seed)
        scalar = Box(low, high, name, shape=(), dtype=dtype)
        self.low, self.high = scalar.low[()], scalar.high[()]
        self._one = scalar

    @property
    def is_np_flattenable(self) -> bool:
        """False: values differ in size."""
        return False

    def sample(self, mask: None = None, probability: None = None) -> NDArray[Any]:
        """Return a random array; the lengths of free axes are geometric from 0."""
        refuse_masks(self, mask, probability)
        assert self.dtype is not None
        random = self.np_random
        shape = [axis if axis >= 0 else int(random.geometric(0.25)) - 1 for axis in self.axes]
        low = self.low if self._one.is_bounded("below") else -np.inf
        high = self.high if self._one.is_bounded("above") else np.inf
        return Box(low, high, self.name, tuple(shape), self.dtype, seed=random).sample()

    def contains(self, x: Any) -> bool:
        """Return whether `x` is an array, or a list of numbers, that fits the axes and bounds."""
        array = make_array(x, self.dtype, self.axes)
        return array is not None and _is_within(array, self.low, self.high)

    def to_jsonable(self, sample_n: Any) -> list[Any]:
        """Return values as nested lists."""
        return [np.asarray(sample).tolist() for sample in sample_n]

    def from_jsonable(self, sample_n: list[Any]) -> list[Any]:
        """Return nested lists as arrays."""
        return [value_from_json(self, data) for data in sample_n]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, FreeBox)
            and (self.name, self.axes, self.dtype) == (other.name, other.axes, other.dtype)
            and (self.low, self.high) == (other.low, other.high)
        )

    def __repr__(self) -> str:
        axes = ", ".join("any" if axis < 0 else str(axis) for axis in self.axes)
        return f"FreeBox({self.low}, {self.high}, ({axes}), {self.dtype})"


def _is_within(array: NDArray[Any], low: Any, high: Any) -> bool:
    return bool(np.all(array >= low) and np.all(array <= high))


@value_from_json.register(Box)
@value_from_json.register(FreeBox)
def _array_from_json(space: Box | FreeBox, data: Any) -> NDArray[Any]:
    axes = space.axes if isinstance(space, FreeBox) else space.shape
    array = make_array(data, space.dtype, axes)
    if array is None or not _is_within(array, space.low, space.high):
        raise ValueError(f"{data!r} is outside the bounds or the shape")
    return array.astype(space.dtype)


_ACCEPTED_KINDS = {"f": "fiu", "i": "iu", "u": "iu", "b": "b"}
"""For each kind of space, the kinds of number that a list of values may contain."""


def make_array(value: Any, dtype: Any, axes: tuple[int, ...]) -> NDArray[Any] | None:
    """Return `value` as an array of shape `axes` whose numbers suit `dtype`, or None.

    An axis of -1 has any length. Arrays must be safe to cast, by Gymnasium's rule. Lists
    must have the right kind of number: integers are accepted as floats, and nothing else
    mixes.

    >>> make_array([[1, 2], [3, 4]], np.dtype("int8"), (-1, 2))
    array([[1, 2],
           [3, 4]])
    >>> make_array([0.5], np.dtype("int8"), (1,)) is None
    True
    """
    array = _read_numbers(value, dtype)
    if array is None:
        return None
    if array.size == 0 and array.ndim < len(axes):
        # An empty list does not determine the length of its rows.
        array = array.reshape(array.shape + tuple(max(axis, 0) for axis in axes[array.ndim :]))
    fits = array.ndim == len(axes) and all(
        expected in (-1, length) for expected, length in zip(axes, array.shape, strict=True)
    )
    return array if fits else None


def _read_numbers(value: Any, dtype: np.dtype[Any]) -> NDArray[Any] | None:
    if isinstance(value, np.ndarray):
        numbers = cast("NDArray[Any]", value)
        is_number = dtype.kind == "b" or numbers.dtype.kind != "b"
        return numbers if is_number and np.can_cast(numbers.dtype, dtype) else None
    if not isinstance(value, (list, tuple, int, float, np.generic)):
        return None
    try:
        array = np.asarray(value)
        if array.size == 0 or array.dtype.kind in _ACCEPTED_KINDS[dtype.kind]:
            return array
        return _read_unsigned(value) if dtype.kind == "u" and array.dtype.kind == "f" else None
    except (OverflowError, TypeError, ValueError):
        return None


def _read_unsigned(value: Any) -> NDArray[Any] | None:
    """Return integers on both sides of 2**63, which numpy reads as floats."""
    items = np.asarray(value, dtype=object)
    return items.astype(np.uint64) if all(type(item) is int for item in items.flat) else None
