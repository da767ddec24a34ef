# SPDX-License-Identifier: MIT
"""Spaces made of other spaces."""

import gymnasium
import numpy as np
import pytest

from compiler_gym.errors import InvalidActionError
from compiler_gym.spaces import Box, Dict, Discrete, NamedDiscrete, Sequence, SpaceSequence, Tuple


def test_a_mapping_is_sorted_and_pairs_keep_their_order() -> None:
    parts = [("b", Discrete(2, name="b")), ("a", Discrete(3, name="a"))]
    assert list(Dict(dict(parts), name="x")) == ["a", "b"]
    assert list(Dict(parts, name="x")) == ["b", "a"]
    assert isinstance(Dict(parts, name="x"), gymnasium.spaces.Dict)


def test_inner_actions_are_written_as_numbers_and_read_back() -> None:
    space = Dict(
        {"pass": NamedDiscrete(["a", "b"], name="p"), "at": Box(0, 9, "at", (2,), np.int64)}, "x"
    )
    action = {"pass": 1, "at": np.array([3, 4])}
    assert space.to_string([action]) == '[{"pass": 1, "at": [3, 4]}]'
    read = space.from_string('[{"pass": 1, "at": [3, 4]}]')[0]
    assert read["pass"] == 1
    assert read["at"].tolist() == [3, 4]


@pytest.mark.parametrize("text", ["[{}]", "[[1]]", '[{"pass": 2}]', '[{"pass": "b"}]'])
def test_text_that_does_not_fit_is_refused(text: str) -> None:
    space = Dict({"pass": NamedDiscrete(["a", "b"], name="p")}, name="x")
    with pytest.raises(InvalidActionError, match="expected a member of Dict"):
        space.from_string(text)


def test_lists_and_arrays_do_for_tuples() -> None:
    space = Tuple([Discrete(2, name="a"), Discrete(3, name="b")], name="x")
    assert space.contains((1, 2))
    assert space.contains([1, 2])
    assert space.contains(np.array([1, 2]))
    for other in (np.array(1), (1,), (1, 2, 0), (2, 2), "12", None):
        assert not space.contains(other)
    with pytest.raises(InvalidActionError, match="expected a member of Tuple"):
        space.from_string("[[1]]")


def test_inner_spaces_are_masked() -> None:
    space = Tuple([Discrete(2, name="a"), Discrete(3, name="b")], name="x")
    masks = (np.array([0, 1], np.int8), np.array([0, 0, 1], np.int8))
    assert space.sample(mask=masks) == (1, 2)


def test_seeding_reaches_the_inner_spaces() -> None:
    spaces = [Tuple([Discrete(1000, name="a"), Discrete(1000, name="b")], "x") for _ in range(2)]
    for space in spaces:
        space.seed(3)
    assert spaces[0].sample() == spaces[1].sample()


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
