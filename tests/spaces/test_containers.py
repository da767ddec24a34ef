# SPDX-License-Identifier: MIT
import gymnasium
import numpy as np
import pytest

from compiler_gym.errors import InvalidActionError
from compiler_gym.spaces import Box, Dict, Discrete, NamedDiscrete, Tuple


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
