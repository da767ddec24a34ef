# SPDX-License-Identifier: MIT
"""Compare ways to choose tails, with 95 % intervals from resampling packages; without a compiler.

A way is an order of tails for each function: the smallest result of the first `tries` stays, or
the base if none is smaller.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler_gym.statistics import Interval, bootstrap_interval, ratio_interval
from compiler_gym.tools.learn.tails.labels import Labels
from compiler_gym.tools.learn.tails.model import TailModel

__all__ = ["Judged", "JudgedWay", "compare_ways", "judge", "save_first"]

Order = NDArray[np.intp]
"""The columns of tails, the first to try first; a row for each function."""
_TRIES = (1, 2, 4, 8)
_SHORTEST_SHARED = 20
"""Functions with fewer instructions are common idioms, and may be in several splits."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The savings over ``clang -Oz``, as shares of 1."""

    pooled: Interval
    """The share of all functions together."""
    modules: Interval
    """The mean of modules."""
    packages: Interval
    """The mean of packages."""
    ahead: float
    """The share of modules with a saving."""


@dataclass(frozen=True, slots=True)
class JudgedWay:
    """One row of a comparison."""

    way: str
    tries: int
    saved: Judged
    over_constant: Judged
    """The same for the difference to the first `tries` tails of the constant order."""


def compare_ways(
    learned: Labels, judged: Labels, probes: Sequence[str], tails: Sequence[str], seed: int
) -> tuple[TailModel, list[JudgedWay]]:
    """Return a model of `learned`, and a comparison of ways to choose for the rows of `judged`.

    Functions that also occur in `judged` are left out of the model.
    """
    is_shared = np.isin(learned.shapes, judged.shapes) & (learned.instructions >= _SHORTEST_SHARED)
    learned = learned.where(~is_shared)
    model = TailModel.fit(learned, probes, tails, seed)
    constant = np.tile(np.arange(len(tails)), (len(judged.names), 1))
    by_mean = np.argsort(-(learned.weights @ learned.savings), kind="stable")
    orders = {
        "constant": constant,
        "mean saving": np.tile(by_mean, (len(judged.names), 1)),
        "nearest neighbour": _follow_nearest(learned, judged, by_mean),
        "model": model.order(model.expect(judged.instructions, judged.features, judged.probes)),
    }
    rows = [
        _compare(judged, way, order, constant, n) for way, order in orders.items() for n in _TRIES
    ]
    return model, [*rows, _compare(judged, "all tails", constant, constant, len(tails))]


def _compare(labels: Labels, way: str, order: Order, constant: Order, tries: int) -> JudgedWay:
    saved = save_first(labels, order, tries)
    return JudgedWay(
        way, tries, judge(labels, saved), judge(labels, saved - save_first(labels, constant, tries))
    )


def _follow_nearest(learned: Labels, judged: Labels, by_mean: NDArray[np.intp]) -> Order:
    """Return the tails in the order of their savings for the most similar learned function."""
    known = np.log1p(np.abs(learned.features)) * np.sign(learned.features)
    asked = np.log1p(np.abs(judged.features)) * np.sign(judged.features)
    center, spread = known.mean(axis=0), known.std(axis=0) + 1e-6
    known, asked = (known - center) / spread, (asked - center) / spread
    lengths = (known**2).sum(axis=1)
    ties = np.empty(len(by_mean))
    ties[by_mean] = np.arange(len(by_mean)) * 1e-6
    orders: list[Order] = []
    for start in range(0, len(asked), 500):
        nearest = (lengths - 2 * asked[start : start + 500] @ known.T).argmin(axis=1)
        orders.append(np.argsort(ties - learned.savings[nearest], axis=1, kind="stable"))
    return np.concatenate(orders)


def save_first(labels: Labels, order: Order, tries: int) -> NDArray[np.float64]:
    """Return what the first `tries` tails of each function save."""
    return np.take_along_axis(labels.savings, order[:, :tries], axis=1).max(axis=1)


def judge(labels: Labels, saved: NDArray[np.float64]) -> Judged:
    """Return the means and intervals of `saved`, which may be a difference of two savings."""
    _, owners = np.unique(labels.packages, return_inverse=True)
    paths = [f"{p}/{m}" for p, m in zip(labels.packages, labels.modules, strict=True)]
    _, firsts, modules = np.unique(paths, return_index=True, return_inverse=True)
    shares = _add_up(modules, saved) / _add_up(modules, labels.sizes)
    wholes = _add_up(owners, labels.sizes)
    gains = _add_up(owners, saved)
    own = owners[firsts]
    return Judged(
        ratio_interval(gains.tolist(), wholes.tolist()),
        ratio_interval(_add_up(own, shares).tolist(), _add_up(own, np.ones(len(own))).tolist()),
        bootstrap_interval((gains / wholes).tolist()),
        float((shares > 0).mean()),
    )


def _add_up(owners: NDArray[np.intp], values: NDArray[Any]) -> NDArray[np.float64]:
    return np.bincount(owners, weights=values).astype(np.float64)
