# SPDX-License-Identifier: MIT
import enum
import timeit

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler_gym.errors import InvalidActionError, UnknownNameError
from compiler_gym.spaces import Discrete, NamedDiscrete


@pytest.fixture
def space() -> NamedDiscrete:
    return NamedDiscrete(["a", "b", "c"], name="letters")


def test_it_is_a_discrete_space_of_gymnasium(space: NamedDiscrete) -> None:
    assert isinstance(space, gymnasium.spaces.Discrete)
    assert isinstance(space, Discrete)
    assert space.n == 3
    assert space.start == 0
    assert space.names == ["a", "b", "c"]


def test_names_are_looked_up(space: NamedDiscrete) -> None:
    assert space["b"] == 1
    with pytest.raises(UnknownNameError, match="no action 'd'"):
        space["d"]
    with pytest.raises(UnknownNameError, match="no action 1"):
        space[1]  # type: ignore[index]  # the mistake under test


def test_members_are_integers_in_range_of_any_kind(space: NamedDiscrete) -> None:
    class Letter(enum.IntEnum):
        C = 2

    for member in (0, 2, np.int64(1), np.uint8(2), np.int8(0), np.array(1), Letter.C):
        assert space.contains(member) is True, repr(member)
    for other in (3, -1, 2.0, np.float32(1), True, np.True_, "a", None, np.array([1]), 2**70):
        assert space.contains(other) is False, repr(other)
    assert space.contains(np.uint64(2**64 - 1)) is False


def test_actions_are_written_as_names_separated_by_blanks(space: NamedDiscrete) -> None:
    assert space.to_string([0, 2, 2]) == "a c c"
    assert space.to_string(np.array([2, 1])) == "c b"
    assert space.to_string(action for action in (0, 1)) == "a b"
    assert space.to_string([]) == ""


def test_a_single_action_is_written_alone(space: NamedDiscrete) -> None:
    assert space.to_string(1) == "b"
    assert space.to_string(np.int64(1)) == "b"
    assert space.to_string(np.array(1)) == "b"


def test_text_is_read_with_any_blanks(space: NamedDiscrete) -> None:
    assert space.from_string("a c  c\n b") == [0, 2, 2, 1]
    assert space.from_string("  ") == []


@pytest.mark.parametrize("action", [3, -1, 1.0, True, None, "b", [3], [0, -1], ["a"], [None]])
def test_values_outside_are_not_written(space: NamedDiscrete, action: object) -> None:
    with pytest.raises(InvalidActionError, match="expected an integer from 0 to 2, got"):
        space.to_string(action)  # type: ignore[arg-type]  # the mistake under test


def test_unknown_names_are_reported_with_the_nearest() -> None:
    space = NamedDiscrete(["mem2reg", "licm", "gvn"], name="passes")
    with pytest.raises(UnknownNameError, match="no action 'mem2ref'; did you mean 'mem2reg'"):
        space.from_string("licm mem2ref gvn")
    with pytest.raises(UnknownNameError, match="no action 'xyz'; expected one of 3"):
        space.from_string("xyz")
    with pytest.raises(InvalidActionError, match="expected text, got 3"):
        space.from_string(3)  # type: ignore[arg-type]  # the mistake under test


def test_names_may_hold_blanks() -> None:
    space = NamedDiscrete(["loop", "loop unroll", "unroll fast", "fast"], name="passes")
    assert space.from_string("loop unroll") == [1]
    assert space.from_string("loop unroll fast") == [1, 3]
    assert space.from_string("loop loop unroll") == [0, 1]
    with pytest.raises(UnknownNameError, match="no action 'unroll'"):
        space.from_string("fast unroll")


def test_the_longest_name_gives_way_when_the_rest_could_not_be_read() -> None:
    space = NamedDiscrete(["a b", "a", "b c"], name="passes")
    assert space.from_string("a b c") == [1, 2]


def test_names_must_differ_and_not_be_empty() -> None:
    with pytest.raises(ValueError, match="each action must be different: 'a' is there twice"):
        NamedDiscrete(["a", "b", "a"], name="n")
    with pytest.raises(ValueError, match="at least one word"):
        NamedDiscrete(["a", " "], name="n")
    # Gymnasium 1.2 asserts, 1.4 raises.
    with pytest.raises((AssertionError, ValueError), match="have to be positive"):
        NamedDiscrete([], name="n")


def test_equality_looks_at_the_names(space: NamedDiscrete) -> None:
    assert space == NamedDiscrete(["a", "b", "c"], name="letters")
    assert space != NamedDiscrete(["a", "b", "d"], name="letters")
    assert space != NamedDiscrete(["a", "b", "c"], name="other")
    assert space != Discrete(3, name="letters")
    assert space != gymnasium.spaces.Discrete(3)


def test_long_spaces_have_a_short_representation() -> None:
    space = NamedDiscrete([f"p{i}" for i in range(150)], name="passes")
    assert repr(space) == "NamedDiscrete([p0, p1, p2, p3, p4, ... 145 more])"


def test_masks_and_probabilities_choose_the_sample(space: NamedDiscrete) -> None:
    mask = np.array([0, 1, 0], dtype=np.int8)
    assert {int(space.sample(mask=mask)) for _ in range(20)} == {1}
    probability = np.array([0.5, 0.0, 0.5])
    assert {int(space.sample(probability=probability)) for _ in range(50)} == {0, 2}


@given(st.integers(0, 2**32), st.integers(1, 200))
def test_samples_are_those_of_gymnasiums_discrete(seed: int, n: int) -> None:
    ours = NamedDiscrete([f"p{i}" for i in range(n)], name="passes", seed=seed)
    theirs = gymnasium.spaces.Discrete(n, seed=seed)
    assert [ours.sample() for _ in range(5)] == [theirs.sample() for _ in range(5)]


def test_membership_takes_less_than_half_a_microsecond() -> None:
    space = NamedDiscrete([f"p{i}" for i in range(150)], name="passes")
    for action in (7, np.int64(7)):
        best = min(timeit.repeat(lambda: space.contains(action), number=2000, repeat=15))  # noqa: B023  # called at once
        assert best / 2000 < 0.5e-6
