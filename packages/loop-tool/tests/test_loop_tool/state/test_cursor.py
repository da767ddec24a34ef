# SPDX-License-Identifier: MIT
"""A cursor moves, changes its loop and takes changes back."""

from compiler_gym_loop_tool.actions import changes
from compiler_gym_loop_tool.state.cursor import Cursor
from compiler_gym_loop_tool.state.descriptions import describe
from compiler_gym_loop_tool.state.reading import parse_program
from compiler_gym_loop_tool.state.tree import initial_tree


def start() -> Cursor:
    return Cursor(initial_tree(parse_program(describe("matmul", "m=8,n=8,k=8"))))


def test_it_stops_at_the_ends_or_goes_around() -> None:
    cursor = start()
    assert cursor.move_by(-1, around=False) is cursor
    assert cursor.move_by(-1, around=True).at == 2
    assert cursor.move_by(5, around=False).at == 2


def test_it_follows_its_loop() -> None:
    cursor = start().change_loop(changes.swap_down, move=1)
    assert (cursor.at, cursor.tree.loop(cursor.path).dim) == (1, "m")


def test_changes_are_taken_back_one_by_one() -> None:
    first = start()
    second = first.change_loop(changes.swap_down, move=1)
    third = second.change_loop(changes.toggle_unroll)
    assert third.undo() == second
    assert third.undo().undo() == first
    assert first.undo() is first


def test_a_change_without_meaning_is_not_a_change() -> None:
    cursor = start()
    assert cursor.change_loop(changes.swap_up) is cursor
