# SPDX-License-Identifier: MIT
"""Numbered, named and flagged choices."""

import copy
import enum
import pickle
import timeit
from collections.abc import Iterable
from typing import Any, SupportsIndex

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler_gym.errors import InvalidActionError, UnknownNameError
from compiler_gym.spaces import (
    ActionPart,
    Commandline,
    CommandlineFlag,
    Discrete,
    MultiBinary,
    MultiDiscrete,
    NamedDiscrete,
    action_parts,
)
from compiler_gym.spaces.discrete import Words

PARTS = (ActionPart("level", "0, 1, 2", "How much"), ActionPart("loud", "no, yes", ""))


def test_a_space_keeps_its_parts_through_copies() -> None:
    space = MultiDiscrete([3, 2], "settings", parts=PARTS)
    assert action_parts(space) == PARTS
    for twin in (copy.deepcopy(space), pickle.loads(pickle.dumps(space))):
        assert action_parts(twin) == PARTS
        assert twin == space


def test_others_have_none() -> None:
    assert action_parts(MultiDiscrete([3, 2], "settings")) == ()


def test_the_range_may_start_anywhere() -> None:
    space = Discrete(3, name="x", start=-1)
    assert [value for value in range(-4, 5) if space.contains(value)] == [-1, 0, 1]
    assert not space.contains(np.uint64(2**64 - 1))
    assert space != Discrete(3, name="x")
    assert space == Discrete(3, name="x", start=-1)
    assert space != gymnasium.spaces.Discrete(3, start=-1)


def test_actions_of_a_discrete_space_are_written_as_numbers() -> None:
    space = Discrete(3, name="x")
    assert space.to_string([0, np.int64(2)]) == "[0, 2]"
    assert space.from_string("[0, 2]") == [0, 2]
    for text in ("[1.0]", "[true]", "[3]", '["1"]', "1"):
        with pytest.raises(InvalidActionError, match="expected"):
            space.from_string(text)
    with pytest.raises(InvalidActionError, match="got 3"):
        space.to_string([3])


def test_several_choices_are_integers_within_each_range() -> None:
    space = MultiDiscrete([2, 5], name="x")
    assert isinstance(space, gymnasium.spaces.MultiDiscrete)
    assert space.contains(np.array([1, 4]))
    assert space.contains([1, 4])
    for other in ([2, 0], [-1, 0], [0], [0.0, 1.0], [True, False], np.array([0.0, 1.0]), None, 1):
        assert not space.contains(other)


def test_switches_are_zero_or_one_and_do_not_wrap() -> None:
    space = MultiBinary(2, name="x")
    assert isinstance(space, gymnasium.spaces.MultiBinary)
    assert space.contains(np.array([1, 0], dtype=np.int8))
    assert space.contains([1, 0])
    for other in ([256, 0], [2, 0], [1], [0.0, 1.0], np.array([256, 1]), None):
        assert not space.contains(other)


def test_masks_work_as_in_gymnasium() -> None:
    space = MultiDiscrete([2, 3], name="x")
    mask = (np.array([0, 1], np.int8), np.array([0, 0, 1], np.int8))
    assert space.sample(mask=mask).tolist() == [1, 2]


ITEM = st.lists(st.sampled_from("abcd"), min_size=1, max_size=3).map(" ".join)
ITEMS = st.lists(ITEM, min_size=1, max_size=6, unique=True)


@given(ITEMS, st.data())
def test_written_words_are_read_as_the_same_text(items: list[str], data: st.DataObject) -> None:
    words = Words(items, "flag")
    numbers = data.draw(st.lists(st.integers(0, len(items) - 1), max_size=5))
    text = " ".join(items[number] for number in numbers)
    found = words.find(text)
    assert " ".join(items[number] for number in found) == text


@given(ITEMS)
def test_every_item_has_its_number(items: list[str]) -> None:
    words = Words(items, "flag")
    assert [words.number(f" {item}  ") for item in items] == list(range(len(items)))


def test_the_item_of_most_words_wins_where_the_rest_can_be_read() -> None:
    words = Words(["a", "a b", "b c", "c"], "flag")
    assert words.find("a b c") == [1, 3]
    words = Words(["a", "a b", "b c"], "flag")
    assert words.find("a b c") == [0, 2]
    assert words.find("") == []


@pytest.mark.parametrize(
    ("text", "found"), [("x", "'x'"), ("a x a", "'x'"), ("a b", "'b'"), ("b c x", "'x'")]
)
def test_the_first_word_that_belongs_to_no_item_is_named(text: str, found: str) -> None:
    words = Words(["a", "b c"], "flag")
    with pytest.raises(UnknownNameError, match=rf"no flag {found}; "):
        words.find(text)


def test_a_close_name_is_proposed() -> None:
    words = Words(["-finline", "-fno-inline"], "flag")
    hint = r"no flag '-finlin'; did you mean '-finline' or '-fno-inline'\?"
    with pytest.raises(UnknownNameError, match=hint):
        words.number("-finlin")
    with pytest.raises(UnknownNameError, match="no flag 'x'; expected one of 2"):
        words.number("x")


@pytest.mark.parametrize("value", [None, 3, ["-a"], b"-a"])
def test_an_invalid_text_is_refused(value: Any) -> None:
    words = Words(["-a"], "flag")
    with pytest.raises(InvalidActionError, match="expected text, got"):
        words.find(value)
    with pytest.raises(UnknownNameError, match="expected one of 1"):
        words.number(value if not isinstance(value, bytes) else 3)  # type: ignore[arg-type]


def test_items_that_cannot_be_distinguished_are_refused() -> None:
    with pytest.raises(ValueError, match="each flag must be different: 'a  b' is there twice"):
        Words(["a b", "c", "a  b"], "flag")
    with pytest.raises(ValueError, match="at least one word: one is empty"):
        Words(["a", "  "], "flag")


def test_a_copy_is_the_same_object() -> None:
    words = Words(["a"], "flag")
    assert copy.deepcopy(words) is words


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


FLAGS = [
    CommandlineFlag("a", "-a", "A flag"),
    CommandlineFlag("b", "-b x", "A flag with a value"),
    CommandlineFlag("end", "# end-of-episode", "A comment"),
]


@pytest.fixture
def commandline() -> Commandline:
    return Commandline(FLAGS, name="flags")


def test_it_names_its_flags(commandline: Commandline) -> None:
    assert isinstance(commandline, NamedDiscrete)
    assert commandline.names == ["a", "b", "end"]
    assert commandline.flags == ["-a", "-b x", "# end-of-episode"]
    assert commandline.descriptions == ["A flag", "A flag with a value", "A comment"]
    assert commandline["end"] == 2


def test_actions_become_a_command_line_and_come_back(commandline: Commandline) -> None:
    assert commandline.to_string([1, 0, 2]) == "-b x -a # end-of-episode"
    assert commandline.from_string("-b x -a # end-of-episode") == [1, 0, 2]
    assert commandline.to_string(0) == "-a"
    assert commandline.from_string("") == []


def test_unknown_flags_and_unknown_actions_are_refused(commandline: Commandline) -> None:
    with pytest.raises(UnknownNameError, match="no flag '-b'; did you mean '-b x'"):
        commandline.from_string("-a -b y")
    with pytest.raises(InvalidActionError, match="from 0 to 2, got 3"):
        commandline.to_string([0, 3])


def test_names_are_not_a_command_line(commandline: Commandline) -> None:
    with pytest.raises(LookupError, match="no flag 'a'"):
        commandline.from_string("a")


def test_plain_tuples_do_for_flags() -> None:
    assert Commandline([("a", "-a", "")], name="x").items == [CommandlineFlag("a", "-a", "")]  # type: ignore[list-item]  # allowed at run time


def test_flags_must_differ() -> None:
    with pytest.raises(ValueError, match="each flag must be different: '-a' is there twice"):
        Commandline([CommandlineFlag("a", "-a", ""), CommandlineFlag("b", "-a", "")], name="x")


def test_equality_looks_at_flags_and_descriptions(commandline: Commandline) -> None:
    assert commandline == Commandline(FLAGS, name="flags")
    assert commandline != Commandline([*FLAGS[:2], FLAGS[2]._replace(description="")], name="flags")
    assert commandline != NamedDiscrete(commandline.names, name="flags")


class Pipeline(Commandline):
    """A command line with a rule of its own."""

    def to_string(self, actions: SupportsIndex | Iterable[SupportsIndex]) -> str:
        return f"-passes={','.join(super().to_string(actions).split())}"

    def from_string(self, string: str) -> list[int]:
        return super().from_string(string.removeprefix("-passes=").replace(",", " "))


def test_a_subclass_may_write_command_lines_its_own_way() -> None:
    commandline = Pipeline([CommandlineFlag(n, n, "") for n in ("gvn", "licm")], name="passes")
    assert commandline.to_string([1, 0]) == "-passes=licm,gvn"
    assert commandline.from_string("-passes=licm,gvn") == [1, 0]
    assert pickle.loads(pickle.dumps(commandline)) == commandline
    assert commandline != Commandline(commandline.items, name="passes")
