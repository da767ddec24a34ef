# SPDX-License-Identifier: MIT
"""Bytes, text, or a list of numbers, of any length within bounds."""

from typing import Any, cast

import gymnasium
import numpy as np
from numpy.typing import DTypeLike, NDArray

from compiler_gym.spaces.base import NamedSpace, refuse_masks, value_from_json
from compiler_gym.spaces.scalar import Scalar


def check_range(size_range: tuple[int, int | None]) -> tuple[int, int | None]:
    """Return `size_range`, or raise ValueError if no length fits it."""
    shortest, longest = size_range
    if shortest < 0 or (longest is not None and longest < shortest):
        raise ValueError(f"expected 0 <= shortest <= longest, got {size_range}")
    return shortest, longest


def random_length(space: Any, mask: Any, probability: Any) -> int:
    """Return a length in ``space.size_range``: from the mask if there is one, else random.

    A mask, or a probability, is ``(lengths, anything)``, as in Gymnasium's Text and Sequence:
    one length, an array of lengths to draw from, or None.
    """
    if mask is not None and probability is not None:
        raise ValueError(f"use a mask or a probability, not both: {mask!r}, {probability!r}")
    shortest, longest = space.size_range
    lengths = _read_mask(mask if probability is None else probability)
    if lengths is None:
        length = shortest + int(space.np_random.geometric(0.25)) - 1
        return length if longest is None else min(length, longest)
    for length in lengths:
        if length < shortest or (longest is not None and length > longest):
            raise gymnasium.error.Error(f"expected a length in {space.size_range}, got {length}")
    return lengths[0] if len(lengths) == 1 else int(space.np_random.choice(lengths))


def _read_mask(mask: Any) -> list[int] | None:
    if mask is None:
        return None
    pair = cast("tuple[Any, ...] | list[Any]", mask) if isinstance(mask, (tuple, list)) else ()
    if len(pair) == 2:
        if pair[0] is None:
            return None
        lengths: NDArray[Any] = np.asarray(pair[0])
        if lengths.dtype.kind in "iu" and lengths.ndim <= 1 and lengths.size:
            return lengths.reshape(-1).tolist()
    raise gymnasium.error.Error(f"expected a mask of the form (length, mask), got {mask!r}")


class Sequence(NamedSpace):
    """Values of `dtype`; `size_range` bounds their number.

    With `bytes` and `str`, members have these types; with any numeric dtype they are lists,
    tuples or one-dimensional arrays.

    >>> Sequence(name="hash", size_range=(4, 4), dtype=str).contains("0fc1")
    True
    >>> times = Sequence(name="times", dtype=float, scalar_range=Scalar("time", min=0.0))
    >>> times.contains([0.5, 0.25]), times.contains([-0.5]), times.contains([1])
    (True, False, False)
    """

    def __init__(
        self,
        name: str,
        size_range: tuple[int, int | None] = (0, None),
        dtype: DTypeLike = bytes,
        opaque_data_format: str | None = None,
        scalar_range: Scalar | None = None,
        *,
        seed: int | np.random.Generator | None = None,
    ) -> None:
        self.name = name
        self.size_range = check_range(size_range)
        """The least and the greatest length; None is unlimited."""
        self.opaque_data_format = opaque_data_format
        """The format of the bytes or the text, if both sides have agreed on one."""
        self.scalar_range = scalar_range
        """The bounds of each element, or None."""
        kind = np.dtype(dtype).kind
        if scalar_range is not None and kind == "U":
            raise ValueError("scalar_range is not supported for text, which has no order")
        self._element = None if kind in "SU" else (scalar_range or Scalar(name, dtype=dtype))
        super().__init__(None, dtype, seed)  # last, because it may seed the element

    @property
    def kind(self) -> str:
        """The kind of element, with numpy's letter: ``S`` is bytes and ``U`` text."""
        assert self.dtype is not None
        return self.dtype.kind

    @property
    def is_np_flattenable(self) -> bool:
        """True if every value has the same number of numbers."""
        return self._element is not None and self.size_range[0] == self.size_range[1]

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """Return random bytes, ASCII text or a list of numbers.

        The length is geometric from the shortest, or the first item of `mask`:
        ``mask=(length, None)``, or ``(array of lengths, None)`` to draw from.
        """
        length = random_length(self, mask, probability)
        if self._element is not None:
            return [self._element.sample() for _ in range(length)]
        if self.kind == "U":
            return "".join(map(chr, self.np_random.integers(0x20, 0x7F, size=length)))
        low, high = self._byte_range()
        return self.np_random.integers(low, high + 1, size=length).astype(np.uint8).tobytes()

    def seed(self, seed: int | None = None) -> int | Any:
        """Seed this space and the numbers in it."""
        seeds = super().seed(seed)
        if self._element is not None:
            self._element.seed(seed)
        return seeds

    def contains(self, x: Any) -> bool:
        """Return whether `x` has the type, the length and the range of values."""
        if self.kind == "S":
            return isinstance(x, bytes) and self._has_length(x) and self._bytes_in_range(x)
        if self.kind == "U":
            return isinstance(x, str) and self._has_length(x)
        assert self._element is not None
        if isinstance(x, np.ndarray):
            array = cast("NDArray[Any]", x)
            return array.ndim == 1 and self._has_length(array) and self._array_in_range(array)
        if not isinstance(x, (list, tuple)):
            return False
        items = cast("list[Any] | tuple[Any, ...]", x)
        return self._has_length(items) and all(map(self._element.contains, items))

    def to_jsonable(self, sample_n: Any) -> list[Any]:
        """Return values as text, with one character per byte, or as lists."""
        if self.kind == "S":
            return [sample.decode("latin-1") for sample in sample_n]
        if self.kind == "U":
            return list(sample_n)
        return [np.asarray(sample).tolist() for sample in sample_n]

    def from_jsonable(self, sample_n: list[Any]) -> list[Any]:
        """Return the arguments of `to_jsonable`, with arrays as lists."""
        return [self._from_json(sample) for sample in sample_n]

    def _from_json(self, data: Any) -> Any:
        if self.kind == "S":
            return data.encode("latin-1")
        if self.kind == "U":
            return data
        assert self._element is not None
        return [value_from_json(self._element, item) for item in data]

    def _has_length(self, x: Any) -> bool:
        shortest, longest = self.size_range
        return shortest <= len(x) and (longest is None or len(x) <= longest)

    def _array_in_range(self, x: NDArray[Any]) -> bool:
        assert self._element is not None
        kinds = "iu" if self._element.kind in "iu" else self._element.kind
        if x.dtype.kind not in kinds:
            return False
        return x.size == 0 or (self._element.contains(x.min()) and self._element.contains(x.max()))

    def _bytes_in_range(self, x: bytes) -> bool:
        low, high = self._byte_range()
        return self.scalar_range is None or not x or (low <= min(x) and max(x) <= high)

    def _byte_range(self) -> tuple[int, int]:
        bounds = self.scalar_range
        low = 0 if bounds is None or bounds.min is None else int(bounds.min)
        return low, 255 if bounds is None or bounds.max is None else int(bounds.max)

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is type(self)
            and (self.name, self.size_range, self.dtype, self.opaque_data_format)
            == (other.name, other.size_range, other.dtype, other.opaque_data_format)
            and self.scalar_range == other.scalar_range
        )

    def __repr__(self) -> str:
        shortest, longest = self.size_range
        kind = {"S": "bytes", "U": "str"}.get(self.kind, str(self.dtype))
        range_ = "" if self.scalar_range is None else f", {self.scalar_range!r}"
        return f"Sequence({kind}, [{shortest}, {'inf' if longest is None else longest}]{range_})"


class Permutation(Sequence):
    """Each integer from ``scalar_range.min`` to ``scalar_range.max`` once, in any order.

    >>> order = Permutation("loops", Scalar("loop", min=0, max=2, dtype=int))
    >>> order
    Permutation(0, 2)
    >>> order.contains([2, 0, 1]), order.contains([2, 2, 1])
    (True, False)
    """

    def __init__(
        self,
        name: str,
        scalar_range: Scalar,
        *,
        seed: int | np.random.Generator | None = None,
    ) -> None:
        low, high = scalar_range.min, scalar_range.max
        if scalar_range.kind not in "iu":
            raise TypeError(f"expected an integral scalar range, got {scalar_range!r}")
        if low is None or high is None:
            raise ValueError(f"expected integers with two bounds, got {scalar_range!r}")
        self._first, self._size = int(low), int(high) - int(low) + 1
        super().__init__(
            name,
            size_range=(self._size, self._size),
            dtype=np.int64,
            scalar_range=scalar_range,
            seed=seed,
        )
        self._shape = (self._size,)

    def sample(self, mask: Any = None, probability: None = None) -> NDArray[np.int64]:
        """Return a random order; all are equally likely."""
        refuse_masks(self, mask, probability)
        return self._first + self.np_random.permutation(self._size)

    def contains(self, x: Any) -> bool:
        """Return whether `x` has every integer once."""
        return super().contains(x) and len(set(map(int, x))) == self._size

    def __repr__(self) -> str:
        return f"Permutation({self._first}, {self._first + self._size - 1})"
