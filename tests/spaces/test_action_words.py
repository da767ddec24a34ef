# SPDX-License-Identifier: MIT
"""What a user calls an action is found, or what was meant is guessed."""

import gymnasium
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler_gym.errors import InvalidActionError
from compiler_gym.spaces import (
    Commandline,
    CommandlineFlag,
    MultiDiscrete,
    NamedDiscrete,
    close_names,
    find_action,
    find_actions,
    read_action,
)

PASSES = NamedDiscrete(["sroa", "sroa<preserve-cfg>", "gvn", "10"], name="passes")
FLAGS = Commandline(
    [CommandlineFlag("O2", "-O2", "levels"), CommandlineFlag("inline", "-finline", "inlines")],
    name="flags",
)


def test_an_action_is_found_by_its_name_its_flag_and_its_number() -> None:
    assert find_actions(PASSES, ["gvn", "0", "sroa<preserve-cfg>"]) == [2, 0, 1]
    assert find_actions(FLAGS, ["inline", "-O2", "1"]) == [1, 0, 1]
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
