# SPDX-License-Identifier: MIT
"""Orders of a range of integers, such as the loops of a nest."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler_gym.spaces._named import refuse_masks
from compiler_gym.spaces.scalar import Scalar
from compiler_gym.spaces.sequence import Sequence

__all__ = ["Permutation"]


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
