# SPDX-License-Identifier: MIT
"""One number within optional bounds."""

import math
from typing import Any, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

from compiler_gym.spaces.base import NamedSpace, refuse_masks, value_from_json
from compiler_gym.spaces.box import Box

_ACCEPTED_TYPES: dict[str, tuple[type, ...]] = {
    "b": (bool, np.bool_),
    "i": (int, np.integer),
    "u": (int, np.integer),
    "f": (float, np.floating),
}


_PYTHONS = (int, float, bool)


class Scalar(NamedSpace):
    """A number of `dtype` in ``[min, max]``; a bound of None is open.

    Kinds do not mix: an integer is not a member of a space of floats, nor a boolean of a space of
    integers. NaN is never a member. Fractional bounds of integers are rounded inwards.

    >>> size = Scalar(name="size", min=0, dtype=int)
    >>> size.contains(12), size.contains(-1), size.contains(12.0), size.contains(True)
    (True, False, False, False)
    >>> type(size.sample())
    <class 'int'>
    """

    def __init__(
        self,
        name: str,
        min: float | None = None,
        max: float | None = None,
        dtype: DTypeLike = np.float64,
        *,
        seed: int | np.random.Generator | None = None,
    ) -> None:
        super().__init__((), dtype, seed)
        assert self.dtype is not None
        self._type: type[Any] = self.dtype.type if dtype not in _PYTHONS else dtype  # type: ignore[assignment]  # a type
        self.name = name
        self.min = min
        """The least value, or None."""
        self.max = max
        """The greatest value, or None."""
        if self.kind not in _ACCEPTED_TYPES:
            raise ValueError(f"expected a dtype of integers, floats or booleans, got {dtype!r}")
        if min is not None and max is not None and min > max:
            raise ValueError(f"expected min <= max, got {min} > {max}")
        if self.kind != "f":
            self.min = None if min is None or min == -math.inf else math.ceil(min)
            self.max = None if max is None or max == math.inf else math.floor(max)
            low, high = self._bounds()
            if low > high:
                raise ValueError(
                    f"expected bounds with an integer between them, got [{min}, {max}]"
                )

    @property
    def kind(self) -> str:
        """The kind of number, with numpy's letter: ``b``, ``i``, ``u`` or ``f``."""
        assert self.dtype is not None
        return self.dtype.kind

    @property
    def is_np_flattenable(self) -> bool:
        """True: a scalar flattens to an array of one number."""
        return True

    def sample(self, mask: None = None, probability: None = None) -> Any:
        """Return a random number: uniform if bounded, otherwise distributed as in Gymnasium's Box.

        It has Python's type if the dtype is `int`, `float` or `bool`, otherwise numpy's.
        """
        refuse_masks(self, mask, probability)
        return self._type(self.as_box(()).sample())

    def as_box(self, shape: tuple[int, ...]) -> Box:
        """Return a box of `shape` with these bounds, sampled by the same generator."""
        assert self.dtype is not None
        low, high = self._bounds()
        return Box(low, high, self.name, shape, self.dtype, seed=self.np_random)

    def contains(self, x: Any) -> bool:
        """Return whether `x` is a number of this kind within the bounds."""
        if isinstance(x, np.ndarray):
            array = cast("NDArray[Any]", x)
            x = array[()]  # the number of an array without axes
        if not isinstance(x, _ACCEPTED_TYPES[self.kind]) or (
            isinstance(x, bool) and self.kind != "b"
        ):
            return False
        if self.kind == "f" and x != x:
            return False
        low, high = self._bounds()
        return bool(low <= x <= high)

    def to_jsonable(self, sample_n: Any) -> list[Any]:
        """Return values as Python numbers."""
        return [np.asarray(sample).item() for sample in sample_n]

    def from_jsonable(self, sample_n: list[Any]) -> list[Any]:
        """Return Python numbers converted to the type of `sample`."""
        return [self._type(sample) for sample in sample_n]

    def _bounds(self) -> tuple[float, float]:
        """Return both bounds; an open bound is that of the dtype."""
        assert self.dtype is not None
        if self.kind == "b":
            lowest, highest = 0, 1
        elif self.kind == "f":
            lowest, highest = -np.inf, np.inf
        else:
            limits = np.iinfo(cast(Any, self.dtype))
            lowest, highest = int(limits.min), int(limits.max)
        return (
            lowest if self.min is None else self.min,
            highest if self.max is None else self.max,
        )

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is type(self)
            and (self.name, self.dtype) == (other.name, other.dtype)
            and (self.min, self.max) == (other.min, other.max)
        )

    def __repr__(self) -> str:
        low, high = self._bounds()
        return f"{type(self).__name__}({low}, {high}, {self.dtype})"


@value_from_json.register(Scalar)
def _scalar_from_json(space: Scalar, data: Any) -> Any:
    assert space.dtype is not None
    is_whole_float = space.kind == "f" and type(data) is int
    if not is_whole_float and not space.contains(data):
        raise ValueError(f"{data!r} is not a number of this kind within the bounds")
    return space.dtype.type(data)
