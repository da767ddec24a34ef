# SPDX-License-Identifier: MIT
import gymnasium
import numpy as np

from compiler_gym.spaces import (
    ActionSpace,
    Commandline,
    CommandlineFlag,
    NamedDiscrete,
    action_descriptions,
    action_flags,
    action_name,
    action_names,
    action_text,
    space_name,
)

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
