# SPDX-License-Identifier: MIT
"""Entries become moves where they mean something."""

from compiler_gym_mlir.actions.menu import MENU, Loops, compose_move
from compiler_gym_mlir.actions.moves import Move

PRODUCT = Loops("m", ("parallel", "parallel", "reduction"), (32, 64, 16))


def test_a_block_tiles_rows_columns_and_depth() -> None:
    assert MENU["block-8x32x4"](PRODUCT) == Move("tile", "m", (8, 32, 4))
    assert MENU["fuse-8x32"](PRODUCT) == Move("fuse", "m", (8, 32, 0))
    assert MENU["tile-2-8"](PRODUCT) == Move("tile", "m", (0, 0, 8))


def test_an_unfitting_choice_is_not_a_move() -> None:
    assert MENU["tile-5-8"](PRODUCT) is None
    assert MENU["tile-2-16"](PRODUCT) is None
    assert MENU["block-8x32x4"](Loops("v", ("parallel",), (64,))) is None


def test_the_composite_takes_as_many_numbers_as_there_are_loops() -> None:
    sizes, order = (1, 2, 3, 4, 5, 6, 7), (6, 2, 0, 1, 3, 4, 5)
    assert compose_move("tile", "m", sizes, order, 3).numbers == (1, 2, 3)
    assert compose_move("interchange", "m", sizes, order, 3).numbers == (2, 0, 1)
    assert compose_move("vectorize", "m", sizes, order, 3).numbers == ()
