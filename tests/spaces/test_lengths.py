# SPDX-License-Identifier: MIT
"""Lengths lie in their range, whoever asks for which."""

from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler_gym.spaces._lengths import check_range, random_length


def ranged(shortest: int, longest: int | None, seed: int = 0) -> Any:
    return SimpleNamespace(
        size_range=(shortest, longest), np_random=np.random.Generator(np.random.PCG64(seed))
    )


@given(st.integers(0, 20), st.none() | st.integers(0, 20), st.integers(0, 1000))
def test_a_random_length_lies_in_its_range(shortest: int, more: int | None, seed: int) -> None:
    longest = None if more is None else shortest + more
    assert check_range((shortest, longest)) == (shortest, longest)
    length = random_length(ranged(shortest, longest, seed), None, None)
    assert shortest <= length
    assert longest is None or length <= longest


def test_a_mask_or_a_probability_may_ask_for_a_length() -> None:
    space = ranged(1, 9)
    assert random_length(space, (4, None), None) == 4
    assert random_length(space, None, (np.int64(5), None)) == 5
    drawn = {random_length(space, (np.array([2, 7]), None), None) for _ in range(40)}
    assert drawn == {2, 7}
    assert 1 <= random_length(space, (None, None), None) <= 9


@pytest.mark.parametrize("size_range", [(-1, None), (3, 2), (-2, -1)])
def test_a_range_that_no_length_fits_is_refused(size_range: tuple[int, int | None]) -> None:
    with pytest.raises(ValueError, match="expected 0 <= shortest <= longest, got"):
        check_range(size_range)


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        ((0, None), "expected a length in .*, got 0"),
        ((10, None), "expected a length in .*, got 10"),
        ((np.array([2, 12]), None), "got 12"),
        (3, r"of the form \(length, mask\), got 3"),
        ((0.5, None), "of the form"),
        ((list[int](), None), "of the form"),
        ((np.array([[1]]), None), "of the form"),
    ],
)
def test_a_length_outside_the_range_and_an_invalid_mask_are_refused(
    mask: Any, message: str
) -> None:
    with pytest.raises(gymnasium.error.Error, match=message):
        random_length(ranged(1, 9), mask, None)
    with pytest.raises(ValueError, match="a mask or a probability, not both"):
        random_length(ranged(1, 9), mask, mask)
