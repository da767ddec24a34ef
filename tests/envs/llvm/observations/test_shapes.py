# SPDX-License-Identifier: MIT
"""The spaces that rows share can be sampled over their whole width."""

import numpy as np

from compiler_gym.core.specs import space_from_spec
from compiler_gym.envs.llvm.observations.shapes import COUNT, MOST, counts


def test_a_count_is_a_whole_number_from_zero() -> None:
    space = space_from_spec(COUNT, "count")
    assert all(value in space for value in (0, 7, MOST))
    assert all(value not in space for value in (-1, 0.5, "7"))
    assert space.sample() in space


def test_counts_are_of_one_size_and_the_widest_can_be_sampled() -> None:
    space = space_from_spec(counts(3), "counts")
    assert np.array([0, 1, MOST]) in space
    assert np.array([0, 1]) not in space
    assert np.array([0, 1, -1]) not in space
    assert space.sample().shape == (3,)
