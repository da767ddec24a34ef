# SPDX-License-Identifier: MIT
import gymnasium
import numpy as np
import pytest

from compiler_gym.spaces import NamedDiscrete, Sequence, SpaceSequence


@pytest.fixture
def space() -> SpaceSequence:
    return SpaceSequence("calls", NamedDiscrete(["f", "g"], name="call"), size_range=(1, 3))


def test_items_and_length_are_checked(space: SpaceSequence) -> None:
    assert isinstance(space, gymnasium.spaces.Sequence)
    assert space.contains((0, 1))
    assert space.contains([np.int64(1)])
    for other in ((), (0, 1, 0, 1), (0, 2), 0, None, "01"):
        assert not space.contains(other)


def test_samples_keep_to_the_length(space: SpaceSequence) -> None:
    space.seed(0)
    assert {len(space.sample()) for _ in range(100)} == {1, 2, 3}


def test_masks_reach_the_items(space: SpaceSequence) -> None:
    mask = np.array([0, 1], dtype=np.int8)
    assert space.sample(mask=(3, mask)) == (1, 1, 1)
    assert space.sample(probability=(2, np.array([1.0, 0.0]))) == (0, 0)
    with pytest.raises(ValueError, match="not both"):
        space.sample(mask=(3, mask), probability=(3, mask))


def test_equality_looks_at_the_length_and_the_items(space: SpaceSequence) -> None:
    item = NamedDiscrete(["f", "g"], name="call")
    assert space == SpaceSequence("calls", item, size_range=(1, 3))
    assert space != SpaceSequence("calls", item)
    assert space != SpaceSequence("calls", NamedDiscrete(["f", "h"], name="call"), (1, 3))
    assert repr(space) == "SpaceSequence(NamedDiscrete([f, g]), [1, 3])"
    assert space.space == item


def test_lengths_are_drawn_from_an_array(space: SpaceSequence) -> None:
    lengths = np.array([1, 3])
    assert {len(space.sample(mask=(lengths, None))) for _ in range(50)} == {1, 3}
    assert space.sample(probability=(np.array([2]), np.array([1.0, 0.0]))) == (0, 0)
    assert len(space.sample(mask=[2, None])) == 2
    assert len(Sequence("bytes", size_range=(0, 4)).sample(mask=(np.array([4]), None))) == 4
    with pytest.raises(gymnasium.error.Error, match=r"length in \(1, 3\), got 4"):
        space.sample(mask=(np.array([1, 4]), None))
    for wrong in (np.array([]), np.array([[1]]), np.array([1.0]), True, "2"):
        with pytest.raises(gymnasium.error.Error, match=r"of the form \(length, mask\)"):
            space.sample(mask=(wrong, None))
