# SPDX-License-Identifier: MIT
"""Bytes, text, lists of numbers and orders."""

from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler_gym.spaces import Permutation, Scalar, Sequence
from compiler_gym.spaces.sequence import check_range, random_length


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


def test_text_is_measured_in_characters() -> None:
    space = Sequence(name="x", size_range=(2, 4), dtype=str)
    assert space.contains("añ")
    assert not any(map(space.contains, ("a", "abcde", b"abc", ["a", "b"], None)))


def test_bytes_are_bytes() -> None:
    space = Sequence(name="x", size_range=(0, 4))
    assert space.contains(b"\x00\xff")
    assert not any(map(space.contains, ("ab", b"12345", bytearray(b"a"), [1, 2])))


def test_bytes_may_have_bounds() -> None:
    space = Sequence(name="x", scalar_range=Scalar("b", min=48, max=57, dtype=int))
    assert space.contains(b"0129")
    assert space.contains(b"")
    assert not space.contains(b"a")
    assert all(space.contains(space.sample()) for _ in range(20))


def test_numbers_come_in_lists_tuples_and_arrays() -> None:
    space = Sequence(name="x", size_range=(3, 3), dtype=int)
    for member in ([1, 2, 3], (1, 2, 3), np.arange(3), np.arange(3, dtype=np.uint8)):
        assert space.contains(member)
    for other in ([1, 2], [1, 2, 3.0], [1, 2, True], np.zeros(3), np.zeros((3, 1), int), "123"):
        assert not space.contains(other)


def test_numbers_keep_to_their_range_and_kind() -> None:
    space = Sequence(name="x", dtype=float, scalar_range=Scalar("r", min=0, max=1, dtype=float))
    assert space.contains([0.0, 1.0])
    assert space.contains(np.array([0.0, 1.0]))
    assert space.contains([])
    assert not space.contains([0.0, -1.0])
    assert not space.contains([0.0, 0])
    assert not space.contains(np.array([0.0, np.nan]))
    assert not space.contains(np.array([0, 1]))


def test_the_length_of_a_sample_can_be_chosen() -> None:
    space = Sequence(name="x", size_range=(1, 6), dtype=str)
    assert len(space.sample(mask=(5, None))) == 5
    assert len(space.sample(probability=(np.int64(2), None))) == 2  # type: ignore[arg-type]  # as Text has it
    assert 1 <= len(space.sample(mask=(None, None))) <= 6
    with pytest.raises(gymnasium.error.Error, match=r"length in \(1, 6\), got 7"):
        space.sample(mask=(7, None))
    with pytest.raises(gymnasium.error.Error, match="of the form"):
        space.sample(mask=5)  # type: ignore[arg-type]  # the mistake under test
    with pytest.raises(ValueError, match="not both"):
        space.sample(mask=(2, None), probability=(2, None))  # type: ignore[arg-type]  # the mistake


def test_wide_length_ranges_give_short_samples() -> None:
    space = Sequence(name="x", size_range=(40, 2**63 - 1), dtype=str, seed=0)
    assert all(40 <= len(space.sample()) < 200 for _ in range(50))


def test_the_format_is_part_of_the_space() -> None:
    one = Sequence(name="x", dtype=str, opaque_data_format="json")
    assert one.opaque_data_format == "json"
    assert one != Sequence(name="x", dtype=str)
    assert one == Sequence(name="x", dtype=str, opaque_data_format="json")
    assert one.dtype == str


def test_the_range_is_readable() -> None:
    assert repr(Sequence(name="x", size_range=(40, 40), dtype=str)) == "Sequence(str, [40, 40])"
    assert repr(Sequence(name="x")) == "Sequence(bytes, [0, inf])"


def test_impossible_lengths_and_bounds_are_refused() -> None:
    for size_range in ((-1, None), (3, 2)):
        with pytest.raises(ValueError, match="shortest <= longest"):
            Sequence(name="x", size_range=size_range)
    with pytest.raises(ValueError, match="scalar_range is not supported for text"):
        Sequence(name="x", dtype=str, scalar_range=Scalar("r", dtype=int))


def test_bytes_are_written_one_character_each() -> None:
    space = Sequence(name="x")
    assert space.from_string(space.to_string([bytes(range(256)), b""])) == [bytes(range(256)), b""]


@pytest.fixture
def space() -> Permutation:
    return Permutation("loops", Scalar("loop", min=1, max=4, dtype=int), seed=0)


def test_every_number_comes_once(space: Permutation) -> None:
    assert isinstance(space, Sequence)
    assert space.contains([4, 1, 3, 2])
    assert space.contains(np.array([4, 1, 3, 2], dtype=np.int8))
    for other in ([4, 1, 3, 3], [1, 2, 3], [1, 2, 3, 4, 4], [0, 1, 2, 3], [1.0, 2, 3, 4], None):
        assert not space.contains(other)


def test_samples_are_arrays_and_every_order_occurs(space: Permutation) -> None:
    assert space.sample().dtype == np.int64
    assert space.shape == (4,)
    assert len({tuple(space.sample().tolist()) for _ in range(500)}) == 24


def test_both_bounds_are_needed() -> None:
    with pytest.raises(ValueError, match="integers with two bounds"):
        Permutation("x", Scalar("x", min=0, dtype=int))
    with pytest.raises(TypeError, match="integral scalar range"):
        Permutation("x", Scalar("x", min=0, max=2))


def test_masks_are_refused(space: Permutation) -> None:
    with pytest.raises(gymnasium.error.Error, match="supports neither masks"):
        space.sample(mask=(4, None))
