# SPDX-License-Identifier: MIT
"""What holds for any program and any actions: its result, its replay, and the way back."""

import json
import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import compiler_gym
from compiler_gym.session import BenchmarkSpec
from compiler_gym_loop_tool.actions import ACTION_SPACES, LOOPS, SPLIT, TABLE
from compiler_gym_loop_tool.jit import set_threads
from compiler_gym_loop_tool.programs.drawn import draw
from compiler_gym_loop_tool.session import LoopToolSession
from compiler_gym_loop_tool.state.cursor import Cursor
from compiler_gym_loop_tool.state.descriptions import KINDS, describe, einsum
from compiler_gym_loop_tool.state.reading import parse_program
from compiler_gym_loop_tool.state.tree import initial_tree
from tests.effort import examples

SPACES = {spec.name: spec for spec in ACTION_SPACES}
STRINGS = ("mk,kn->mn", "bij,bjk->bik", "iij,j->i", "ij,jk,kl->il", "ii", "ab,ba->ab")


def shrunk(text: str, choose: random.Random) -> str:
    """The same program over dimensions that an interpreter goes through at once."""
    return re.sub(
        r"^dim (\w+) \d+",
        lambda match: f"dim {match[1]} {choose.choice((1, 2, 3, 5, 7))}",
        text,
        flags=re.MULTILINE,
    )


@st.composite
def programs(draw_: st.DrawFn) -> str:
    """A kind, an einsum string or a drawn program, in small sizes; some with several splits."""
    text = draw_(
        st.one_of(
            st.sampled_from([describe(kind, "") for kind in sorted(KINDS)]),
            st.sampled_from([einsum(s, dict.fromkeys(set(s) - set(",->"), 4)) for s in STRINGS]),
            st.integers(0, 10**6).map(draw),
        )
    )
    splits = draw_(st.sampled_from((1, 1, 2)))
    small = shrunk(text, random.Random(draw_(st.integers(0, 10**6))))
    return f"splits {splits}\n{small}" if small.count("dim ") * splits < 9 else small


words = st.lists(st.sampled_from([action.name for action in TABLE[LOOPS]]), max_size=40)


def session(text: str, space: str = LOOPS) -> LoopToolSession:
    program = BenchmarkSpec("benchmark://own-v0/1", text.encode())
    return LoopToolSession(Path("unused"), SPACES[space], program)


def played(one: LoopToolSession, names: list[str], space: str = LOOPS) -> LoopToolSession:
    numbers = {action.name: at for at, action in enumerate(TABLE[space])}
    for name in names:
        one.apply_action(numbers[name])
    return one


def assert_right(one: LoopToolSession) -> None:
    for way in ("interpreted", "compiled"):
        reply = json.loads(one.handle_session_parameter(f"check.{way}", "5") or "")
        assert reply == {"wrong": []}, f"{way}: {reply}\n{one.get_observation('loop_tree')}"


@settings(max_examples=examples(60))
@given(text=programs(), names=words)
def test_no_actions_change_what_is_computed(text: str, names: list[str]) -> None:
    try:
        set_threads(2)
        assert_right(played(session(text), names))
    finally:
        set_threads(0)


@settings(max_examples=examples(30))
@given(
    text=programs(),
    names=st.lists(st.sampled_from([action.name for action in TABLE[SPLIT]]), max_size=40),
)
def test_nor_do_those_of_compiler_gym_0_2_5(text: str, names: list[str]) -> None:
    assert_right(
        played(
            session(
                f"splits 3\n{text}" if "splits" not in text and text.count("dim ") < 4 else text,
                SPLIT,
            ),
            names,
            SPLIT,
        )
    )


@settings(max_examples=examples(60))
@given(text=programs(), names=words)
def test_a_replay_is_the_same_and_actions_without_effect_can_be_left_out(
    text: str, names: list[str]
) -> None:
    first, short = session(text), session(text)
    numbers = {action.name: at for at, action in enumerate(TABLE[LOOPS])}
    for name in names:
        _, _, had_no_effect = first.apply_action(numbers[name])
        if not had_no_effect:
            short.apply_action(numbers[name])
    again = played(session(text), names)
    hashes = {one.get_observation("tree_hash") for one in (first, again, short)}
    assert len(hashes) == 1


@settings(max_examples=examples(60))
@given(text=programs(), names=words)
def test_undo_goes_back_the_way_that_was_gone(text: str, names: list[str]) -> None:
    actions = {action.name: action for action in TABLE[LOOPS]}
    cursor = Cursor(initial_tree(parse_program(text)))
    way: list[Cursor] = []
    for name in names:
        if name == "undo":
            continue
        after = actions[name].apply(cursor)
        if after.tree is not cursor.tree:
            way.append(cursor)
        cursor = after
    while way:
        cursor, before = actions["undo"].apply(cursor), way.pop()
        assert cursor == before
    assert actions["undo"].apply(cursor) is cursor


@pytest.mark.parametrize("seed", range(3))
def test_forks_in_the_middle_go_on_alike(seed: int) -> None:
    choose = random.Random(seed)
    with compiler_gym.make("loop_tool-v0", action_space="loops", reward_space=None) as env:
        env.reset(benchmark=f"generator://loop_nests-v0/{seed}")
        actions = [choose.randrange(len(TABLE[LOOPS])) for _ in range(30)]
        env.multistep(actions[:15])
        with env.fork() as fork:
            fork.multistep(actions[15:])
            env.multistep(actions[15:])
            for name in ("loop_tree", "tree_hash", "loop_graph_json"):
                assert fork.observation[name] == env.observation[name]
            assert fork.state.state_hash == env.state.state_hash
