# SPDX-License-Identifier: MIT
"""Actions do what their names say; the two spaces of 0.2.5 play its documented example."""

from compiler_gym_loop_tool.actions import ACTION_SPACES, LOOPS, SIMPLE, SPLIT, TABLE
from compiler_gym_loop_tool.state.cursor import Cursor
from compiler_gym_loop_tool.state.descriptions import describe
from compiler_gym_loop_tool.state.reading import parse_program
from compiler_gym_loop_tool.state.tree import initial_tree


def played(space: str, text: str, words: str) -> Cursor:
    actions = {action.name: action for action in TABLE[space]}
    cursor = Cursor(initial_tree(parse_program(text)))
    for word in words.split():
        cursor = actions[word].apply(cursor)
    return cursor


def sizes(cursor: Cursor) -> list[tuple[int, int]]:
    return [(loop.size, loop.tail) for _, loop in cursor.tree.loops()]


ADD = "splits 3\n" + describe("add", "a=1024")


def test_the_old_spaces_have_the_old_names_in_the_old_order() -> None:
    simple = ["toggle_mode", "up", "down", "toggle_thread"]
    assert [action.name for action in TABLE[SIMPLE]] == simple
    assert [action.name for action in TABLE[SPLIT]] == [*simple, "split"]
    assert [space.name for space in ACTION_SPACES] == [SIMPLE, SPLIT, LOOPS]


def test_up_takes_iterations_and_leaves_the_tail_outside() -> None:
    found = played(SIMPLE, ADD, "toggle_mode up toggle_mode up up")
    assert sizes(found) == [(341, 1), (3, 0), (1, 0)]


def test_the_outermost_loop_cannot_grow() -> None:
    assert sizes(played(SIMPLE, ADD, "up down")) == [(1024, 0), (1, 0), (1, 0)]


def test_the_cursor_goes_around() -> None:
    assert played(SIMPLE, ADD, "toggle_mode down").at == 2
    assert played(SIMPLE, ADD, "toggle_mode up up up").at == 0


def test_threads_are_toggled() -> None:
    flags = [loop.parallel for _, loop in played(SIMPLE, ADD, "toggle_thread").tree.loops()]
    assert flags == [False, False, False]


def test_the_fifth_action_makes_a_loop_to_be_resized() -> None:
    found = played(SPLIT, ADD, "split toggle_mode up toggle_mode up up up")
    assert sizes(found) == [(256, 0), (4, 0), (1, 0), (1, 0)]


def test_undo_takes_changes_back_but_no_moves() -> None:
    text = describe("matmul", "m=64,n=64,k=64")
    found = played(LOOPS, text, "down swap_down split_8 vectorise undo undo undo")
    assert found.tree == initial_tree(parse_program(text))
    assert found.at == 1


def test_every_action_of_looptune_has_an_effect_somewhere() -> None:
    text = describe("dense", "m=64,n=64,k=64")
    effects = {
        "fuse": "",
        "merge": "split_4",
        "pack_first": "",
        "pack_second": "",
        "parallelise": "",
        "swap_down": "",
        "swap_up": "down",
        "undo": "split_4",
        "unroll": "",
        "up": "down",
        "vectorise": "down down",
    }
    for action in TABLE[LOOPS]:
        before = played(LOOPS, text, effects.get(action.name, ""))
        assert action.apply(before) is not before, action.name
