# SPDX-License-Identifier: MIT
"""Names, words and texts of actions."""

import copy
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces.utils import flatdim, flatten, flatten_space, unflatten
from gymnasium.vector.utils import batch_space
from hypothesis import given
from hypothesis import strategies as st

from compiler_gym.errors import InvalidActionError, UnknownNameError
from compiler_gym.spaces import (
    ActionSpace,
    Box,
    Commandline,
    CommandlineFlag,
    Decision,
    MultiDiscrete,
    NamedDiscrete,
    action_descriptions,
    action_flags,
    action_name,
    action_names,
    action_text,
    close_names,
    find_action,
    find_actions,
    read_action,
    space_name,
)

# Gymnasium types its spaces partially:
# pyright: reportUnknownVariableType=false


@pytest.fixture
def space() -> ActionSpace:
    return ActionSpace(NamedDiscrete(["a", "b", "c"], name="letters"))


def test_it_behaves_as_the_space_it_wraps(space: ActionSpace) -> None:
    assert space.name == "letters"
    assert space.contains(2)
    assert 3 not in space
    assert space.n == 3
    assert space["b"] == 1
    assert space.shape == ()
    assert space.dtype == np.int64
    assert space.sample(mask=np.array([0, 0, 1], dtype=np.int8)) == 2
    assert space.sample(probability=np.array([0.0, 1.0, 0.0])) == 1
    with pytest.raises(AttributeError, match="nonsense"):
        _ = space.nonsense


def test_the_wrapped_space_decides_how_actions_are_written(space: ActionSpace) -> None:
    assert space.to_string([0, 1]) == "a b"
    assert space.from_string("a b") == [0, 1]
    with pytest.raises(UnknownNameError, match="no action 'x'"):
        space.from_string("x")
    with pytest.raises(InvalidActionError, match="got 7"):
        space.to_string([7])


def test_gymnasiums_own_spaces_are_written_as_json() -> None:
    inner = gymnasium.spaces.Dict(
        {"a": gymnasium.spaces.Discrete(2), "b": gymnasium.spaces.Box(0, 1, (1,), np.float32)}
    )
    space = ActionSpace(inner)
    actions = [{"a": 1, "b": np.array([0.5], np.float32)}]
    assert space.to_string(actions) == '[{"a": 1, "b": [0.5]}]'
    assert space.from_string('[{"a": 1, "b": [0.5]}]') == actions
    assert space.name is None
    with pytest.raises(InvalidActionError, match="expected a member of Dict"):
        space.from_string('[{"a": 1}]')


def test_seeding_reaches_the_wrapped_space(space: ActionSpace) -> None:
    space.seed(5)
    first = [space.sample() for _ in range(10)]
    space.seed(5)
    assert [space.sample() for _ in range(10)] == first
    assert space.np_random is space.wrapped.np_random


def test_copies_are_equal_and_independent(space: ActionSpace) -> None:
    space.seed(5)
    for other in (copy.deepcopy(space), pickle.loads(pickle.dumps(space))):
        assert other == space
        assert other.wrapped is not space.wrapped
    assert space != ActionSpace(NamedDiscrete(["a"], name="letters"))
    assert space != space.wrapped
    assert repr(space) == "ActionSpace(NamedDiscrete([a, b, c]))"


def test_gymnasiums_functions_see_the_wrapped_space(space: ActionSpace) -> None:
    assert flatdim(space) == 3
    assert flatten_space(space) == flatten_space(space.wrapped)
    assert unflatten(space, flatten(space, 2)) == 2
    assert isinstance(batch_space(space, 2), gymnasium.spaces.MultiDiscrete)
    values = [{"x": 1}]
    box = ActionSpace(Box(0, 1, "x", (2,)))
    assert box.from_jsonable(box.to_jsonable([np.zeros(2, np.float32)]))[0].tolist() == [0, 0]
    assert values not in box


PLAIN = gymnasium.spaces.Discrete(2)
NAMED = NamedDiscrete(["a", "b"], name="letters")
FLAGS = Commandline([CommandlineFlag("a", "-a", "First."), CommandlineFlag("b", "-b", "")], "line")


def test_a_space_of_gymnasium_names_nothing() -> None:
    assert list(action_names(PLAIN)) == list(action_flags(PLAIN)) == []
    assert action_name(PLAIN, 1) == "1"
    assert space_name(PLAIN) is None
    assert space_name(None) is None


def test_an_action_without_a_name_is_written_as_json_that_can_be_read() -> None:
    assert action_text(np.arange(3)) == "[0, 1, 2]"
    assert action_text({"pass": "gvn", "depth": np.int64(2), "on": np.bool_(True)}) == (
        '{"pass": "gvn", "depth": 2, "on": true}'
    )
    assert (action_text(7), action_text("-O2"), action_text((1, 2))) == ("7", "-O2", "[1, 2]")
    assert action_name(gymnasium.spaces.MultiDiscrete([3, 3]), np.array([0, 2])) == "[0, 2]"


def test_names_are_found_through_a_wrapped_space_too() -> None:
    for space in (NAMED, ActionSpace(NAMED)):
        assert list(action_names(space)) == ["a", "b"]
        assert action_name(space, 1) == "b"
        assert space_name(space) == "letters"
        assert list(action_flags(space)) == list(action_descriptions(space)) == ["", ""]


def test_flags_and_descriptions_are_those_of_the_actions() -> None:
    assert list(action_flags(FLAGS)) == ["-a", "-b"]
    assert list(action_descriptions(FLAGS)) == ["First.", ""]


PASSES = NamedDiscrete(["sroa", "sroa<preserve-cfg>", "gvn", "10"], name="passes")
COMMANDLINE = Commandline(
    [CommandlineFlag("O2", "-O2", "levels"), CommandlineFlag("inline", "-finline", "inlines")],
    name="flags",
)


def test_an_action_is_found_by_its_name_its_flag_and_its_number() -> None:
    assert find_actions(PASSES, ["gvn", "0", "sroa<preserve-cfg>"]) == [2, 0, 1]
    assert find_actions(COMMANDLINE, ["inline", "-O2", "1"]) == [1, 0, 1]
    assert find_action(gymnasium.spaces.Discrete(5, start=2), "6") == 6


def test_a_name_of_digits_is_a_name() -> None:
    assert find_action(PASSES, "10") == 3


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("4", "no action number 4: it must be a number from 0 to"),
        ("srao", r"no action 'srao' in passes: did you mean sroa"),
        ("-1", "no action '-1' in passes: use a name or a number"),
        ("", "no action '' in passes"),
        ("²", "no action '²'"),
    ],
)
def test_an_unknown_action_is_refused(word: str, message: str) -> None:
    with pytest.raises(InvalidActionError, match=message):
        find_action(PASSES, word)


def test_actions_without_names_are_written_as_json() -> None:
    space = MultiDiscrete([2, 3], name="settings")
    assert find_action(space, "[1, 2]") == [1, 2]
    for word in ("[1, 3]", "[1", "{}", "null", "x"):
        with pytest.raises(InvalidActionError, match=r"use JSON, a list or an object"):
            find_action(space, word)


@given(st.integers(0, 3))
def test_every_name_means_its_own_action(number: int) -> None:
    assert find_action(PASSES, PASSES.names[number]) == number


def test_names_that_begin_alike_come_before_those_that_only_hold_the_letters() -> None:
    names = ["loop-vectorize", "vectorize", "slp-vectorizer", "gvn"]
    assert close_names(names, "vector") == ["vectorize", "loop-vectorize", "slp-vectorizer"]
    assert close_names(names, "VECTOR")[0] == "vectorize"
    assert close_names(names, "gvnn") == ["gvn"]
    assert close_names(names, "lpvr") == ["loop-vectorize", "slp-vectorizer"]
    assert close_names(names, "zzz") == []


def test_an_action_is_called_by_its_name_or_given_as_json() -> None:
    named, several = NamedDiscrete(["dce", "gvn"], "passes"), gymnasium.spaces.MultiDiscrete([2, 3])
    assert [read_action(named, one) for one in ("gvn", "1", 1)] == [1, 1, 1]
    assert list(read_action(several, [1, 2])) == [1, 2]
    for wrong in ([7, 7], {"a": 1}, None, 1.5):
        with pytest.raises(InvalidActionError, match="is not an action: use the name or the"):
            read_action(several, wrong)


def test_a_decision_names_a_choice_for_each_action() -> None:
    decision = Decision("call:1", (10, 12), ("default", "never"), ("call", "caller main"))
    assert dict(zip(decision.choices, decision.kinds, strict=True)) == {10: "default", 12: "never"}
    assert decision.groups[0] == "call"
