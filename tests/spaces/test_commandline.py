# SPDX-License-Identifier: MIT
import pickle
from collections.abc import Iterable
from typing import SupportsIndex

import pytest

from compiler_gym.errors import InvalidActionError, UnknownNameError
from compiler_gym.spaces import Commandline, CommandlineFlag, NamedDiscrete

FLAGS = [
    CommandlineFlag("a", "-a", "A flag"),
    CommandlineFlag("b", "-b x", "A flag with a value"),
    CommandlineFlag("end", "# end-of-episode", "A comment"),
]


@pytest.fixture
def space() -> Commandline:
    return Commandline(FLAGS, name="flags")


def test_it_names_its_flags(space: Commandline) -> None:
    assert isinstance(space, NamedDiscrete)
    assert space.names == ["a", "b", "end"]
    assert space.flags == ["-a", "-b x", "# end-of-episode"]
    assert space.descriptions == ["A flag", "A flag with a value", "A comment"]
    assert space["end"] == 2


def test_actions_become_a_command_line_and_come_back(space: Commandline) -> None:
    assert space.to_string([1, 0, 2]) == "-b x -a # end-of-episode"
    assert space.from_string("-b x -a # end-of-episode") == [1, 0, 2]
    assert space.to_string(0) == "-a"
    assert space.from_string("") == []


def test_unknown_flags_and_unknown_actions_are_refused(space: Commandline) -> None:
    with pytest.raises(UnknownNameError, match="no flag '-b'; did you mean '-b x'"):
        space.from_string("-a -b y")
    with pytest.raises(InvalidActionError, match="from 0 to 2, got 3"):
        space.to_string([0, 3])


def test_names_are_not_a_command_line(space: Commandline) -> None:
    with pytest.raises(LookupError, match="no flag 'a'"):
        space.from_string("a")


def test_plain_tuples_do_for_flags() -> None:
    assert Commandline([("a", "-a", "")], name="x").items == [CommandlineFlag("a", "-a", "")]  # type: ignore[list-item]  # allowed at run time


def test_flags_must_differ() -> None:
    with pytest.raises(ValueError, match="each flag must be different: '-a' is there twice"):
        Commandline([CommandlineFlag("a", "-a", ""), CommandlineFlag("b", "-a", "")], name="x")


def test_equality_looks_at_flags_and_descriptions(space: Commandline) -> None:
    assert space == Commandline(FLAGS, name="flags")
    assert space != Commandline([*FLAGS[:2], FLAGS[2]._replace(description="")], name="flags")
    assert space != NamedDiscrete(space.names, name="flags")


class Pipeline(Commandline):
    """A command line with a rule of its own."""

    def to_string(self, actions: SupportsIndex | Iterable[SupportsIndex]) -> str:
        return f"-passes={','.join(super().to_string(actions).split())}"

    def from_string(self, string: str) -> list[int]:
        return super().from_string(string.removeprefix("-passes=").replace(",", " "))


def test_a_subclass_may_write_command_lines_its_own_way() -> None:
    space = Pipeline([CommandlineFlag(n, n, "") for n in ("gvn", "licm")], name="passes")
    assert space.to_string([1, 0]) == "-passes=licm,gvn"
    assert space.from_string("-passes=licm,gvn") == [1, 0]
    assert pickle.loads(pickle.dumps(space)) == space
    assert space != Commandline(space.items, name="passes")
