# SPDX-License-Identifier: MIT
"""The table that models learn from: functions, their features, and the outcome of each tail."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compiler_gym.tools.learn.tails.covering import package_weights

__all__ = ["COLUMNS", "Labels"]


@dataclass(frozen=True, slots=True)
class Labels:
    """Functions with the outcome of each tail; a row for each function."""

    packages: NDArray[np.str_]
    modules: NDArray[np.str_]
    names: NDArray[np.str_]
    shapes: NDArray[np.int64]
    instructions: NDArray[np.int32]
    """The instructions of the base."""
    sizes: NDArray[np.int32]
    """The size of the base in the unit of the goal."""
    features: NDArray[np.float32]
    probes: NDArray[np.int32]
    """The instructions that each probe leaves."""
    left: NDArray[np.int32]
    """The size that each tail leaves."""

    @property
    def savings(self) -> NDArray[np.float64]:
        """The units that each tail removes; 0 if it removes none."""
        return np.maximum(self.sizes[:, None] - self.left, 0).astype(np.float64)

    def regret(self, chosen: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return what one tail for each function saves less than the best of all tails.

        A function keeps its base if the tail makes it larger.
        """
        return self.savings.max(axis=1) - self.savings[np.arange(len(chosen)), chosen]

    @property
    def weights(self) -> NDArray[np.float64]:
        """The weight of a unit of each function, so that packages weigh the same."""
        return package_weights(self.packages, self.sizes)

    def where(self, chosen: NDArray[np.bool_]) -> "Labels":
        """Return the rows that `chosen` marks."""
        return Labels(*(getattr(self, name)[chosen] for name in COLUMNS))


COLUMNS = tuple(Labels.__dataclass_fields__)
"""The names of the columns."""
