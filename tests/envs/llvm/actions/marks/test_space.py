# SPDX-License-Identifier: MIT
"""The action space Marks: what it lists, takes, refuses, draws and writes."""

import copy
import pickle
from collections.abc import Callable

import numpy as np
import pytest

from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.envs.llvm.actions.marks.space import MarksSpace, split_command
from compiler_gym.errors import InvalidActionError, UnknownNameError
from compiler_gym.spaces import CommandlineFlag

MakeEnv = Callable[..., LlvmEnv]


@pytest.fixture
def space() -> MarksSpace:
    """Return the space of a program with two calls, a loop and a function."""
    items = [
        CommandlineFlag("dce", "function(dce)", "Remove the dead"),
        CommandlineFlag("-Oz", "default<Oz>", "All"),
        CommandlineFlag("ids:3", "", ""),
        CommandlineFlag("call:0", "", "7 main -> part"),
        CommandlineFlag("call:2", "", "5 part -> part"),
        CommandlineFlag("loop:1", "", "15 main, block 1, depth 1"),
        CommandlineFlag("function:0", "", "63 main"),
    ]
    return MarksSpace(items, "Marks")


def test_it_lists_what_the_program_has(space: MarksSpace) -> None:
    assert [point.name for point in space.calls] == ["call:0", "call:2"]
    assert space.calls[0].label == "main -> part"
    assert space.calls[1].choices == ("default", "never")
    assert [point.name for point in (*space.loops, *space.functions)] == ["loop:1", "function:0"]
    assert repr(space) == "MarksSpace(2 passes and levels; 2 calls, 1 loops, 1 functions)"


def test_members_are_what_there_is_now(space: MarksSpace) -> None:
    assert space.contains(space["dce"])
    assert space.contains(np.int64(space["call:2=never"]))
    for gone in ("call:2=inline", "call:1=never", "loop:1=unroll.4", "function:2=hot"):
        assert not space.contains(space[gone]), gone
    assert not space.contains(space["call:9=never"])
    assert not space.contains("dce")
    assert not space.contains(True)


def test_only_what_is_known_is_refused_before_a_pass_has_run(space: MarksSpace) -> None:
    gone = space["call:1=never"]
    with pytest.raises(InvalidActionError, match=r"has no call:1;.*choose from call:0, call:2"):
        space.check_sequence([gone])
    with pytest.raises(InvalidActionError, match=r"choose from .'default', 'never'"):
        space.check_sequence([space["call:0=never"], space["call:2=inline"]])
    space.check_sequence([space["dce"], gone])
    with pytest.raises(InvalidActionError, match="is not an action of"):
        space.check_sequence([0, space.n])


def test_a_sample_is_a_member(space: MarksSpace) -> None:
    space.seed(1)
    drawn = [space.sample() for _ in range(300)]
    assert all(map(space.contains, drawn))
    assert 100 < sum(action < space.dense for action in drawn) < 200
    assert set(map(int, drawn)) == set(space.legal().tolist())
    mask = np.zeros(int(space.n), np.int8)
    mask[[space["call:0=never"], space["call:1=never"]]] = 1
    assert {int(space.sample(mask=mask)) for _ in range(9)} == {space["call:0=never"]}


def test_names_are_made_as_they_are_requested(space: MarksSpace) -> None:
    names = space.names
    assert len(names) == space.n
    assert names[1] == "-Oz"
    assert names[space["loop:1=unroll.4"]] == "loop:1=unroll.4"
    assert names.index("call:0=never") == space["call:0=never"]
    assert "call:0=never" in names
    assert "call:70=never" not in names
    assert [names.index(name) for name in names] == list(range(len(names)))


def test_text_becomes_the_actions_it_came_from(space: MarksSpace) -> None:
    actions = [space[word] for word in ("call:0=never", "dce", "-Oz", "call:70=inline")]
    text = space.to_string(actions)
    assert text.startswith("compiler-gym run --action-space Marks ")
    assert space.from_string(text) == actions
    assert space.from_string("call:0=never dce -Oz call:70=inline") == actions
    with pytest.raises(UnknownNameError, match="dce"):
        space.from_string("dc")
    with pytest.raises(InvalidActionError, match="write it as compiler-gym run"):
        split_command("compiler-gym run input.bc dce")


def test_copies_are_equal_and_draw_on(space: MarksSpace) -> None:
    space.seed(3)
    for twin in (copy.deepcopy(space), pickle.loads(pickle.dumps(space))):
        assert twin == space
    twin = copy.deepcopy(space)
    assert [int(twin.sample()) for _ in range(9)] == [int(space.sample()) for _ in range(9)]
    other = MarksSpace([CommandlineFlag("dce", "function(dce)", "")], "Marks")
    assert other != space


def test_decisions_are_grouped_by_their_owner(space: MarksSpace) -> None:
    call, recursive, loop, function = space.decisions()
    assert call.groups == ("call", "caller main", "callee part")
    assert call.choices == tuple(space[f"call:0={c}"] for c in ("default", "inline", "never"))
    assert recursive.kinds == ("call default", "call never")
    assert loop.groups[0] == "loop"
    assert function.groups[0] == "function"


def test_a_reset_with_a_seed_draws_the_same(make_env: MakeEnv) -> None:
    env = make_env(action_space="Marks", benchmark="cbench-v1/crc32")

    def drawn() -> list[int]:
        env.reset(seed=5)
        found: list[int] = []
        for _ in range(12):
            found.append(int(env.action_space.sample()))
            env.step(found[-1])
        return found

    assert drawn() == drawn()
