# SPDX-License-Identifier: MIT
"""The choice of few tails that cover many functions."""

import itertools

import numpy as np

from compiler_gym.tools.learn.tails.covering import cover, package_weights


def test_packages_of_different_sizes_weigh_the_same():
    weights = package_weights(["a", "b", "b"], np.array([10, 30, 10], np.int32))
    assert weights @ np.array([10, 0, 0]) == weights @ np.array([0, 30, 10]) == 0.5


def test_a_cover_of_two_is_nearly_the_best_pair():
    savings = np.random.default_rng(3).exponential(size=(40, 8))
    weights = np.ones(40)

    def total(columns: tuple[int, ...]) -> float:
        return float(savings[:, list(columns)].max(axis=1).sum())

    chosen = cover(savings, weights, 2)
    assert chosen[0] == savings.sum(axis=0).argmax()
    assert total(tuple(chosen)) >= 0.95 * max(map(total, itertools.combinations(range(8), 2)))


def test_a_cover_ends_when_nothing_is_added():
    savings = np.array([[1.0, 1.0, 0.5], [0.0, 0.0, 2.0]])
    assert cover(savings, np.ones(2), 3) == [2, 0]
