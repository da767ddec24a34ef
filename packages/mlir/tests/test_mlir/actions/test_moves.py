# SPDX-License-Identifier: MIT
"""A move is written and read the same, and what is none is refused."""

import pytest

from compiler_gym.errors import InvalidActionError
from compiler_gym_mlir.actions.moves import Move, parse_move


@pytest.mark.parametrize("text", ["tile matmul0 8 32 4", "hoist", "vectorize generic3"])
def test_a_written_move_is_read_back(text: str) -> None:
    assert str(parse_move(text)) == text
    assert parse_move("tile a [1, 2]") == Move("tile", "a", (1, 2))


@pytest.mark.parametrize(
    ("text", "why"),
    [("", "no transformation"), ("tile", "no operation"), ("tile 8 8", "no operation"),
     ("tile a -1", "whole numbers"), ("hoist 3", "takes no numbers"), ("fly a", "use one of")],
)  # fmt: skip
def test_an_invalid_move_is_refused(text: str, why: str) -> None:
    with pytest.raises(InvalidActionError, match=why):
        parse_move(text)
