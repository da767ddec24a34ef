# SPDX-License-Identifier: MIT
"""CompilerGym 0.2.5's action becomes tilings in the order of its vector."""

from typing import Any

import pytest

from compiler_gym.errors import InvalidActionError
from compiler_gym_mlir.actions.matrix import tilings, vectors
from compiler_gym_mlir.actions.moves import Move

TILE: dict[str, Any] = {"tile_sizes": [8, 64, 4], "interchange_vector": [2, 0, 1], "promote": False}


def test_loops_come_in_the_order_of_the_vector() -> None:
    moves = tilings(TILE, "m", (64, 64, 64))
    assert moves == [Move("tile", "m", (0, 0, 4)), Move("tile", "m", (8, 0, 0))]
    assert vectors({"vectorize_to": 2}, "m")[1] == Move("outerproduct")


def test_bad_options_are_refused() -> None:
    with pytest.raises(InvalidActionError, match="tile_sizes"):
        tilings({**TILE, "tile_sizes": [0, 1, 1]}, "m", (64, 64, 64))
    with pytest.raises(InvalidActionError, match="vectorize_to"):
        vectors({"vectorize_to": 3}, "m")
