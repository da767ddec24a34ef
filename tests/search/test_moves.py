# SPDX-License-Identifier: MIT
"""Actions of any space are numbers from zero."""

import gymnasium

from compiler_gym.search.moves import Moves
from compiler_gym.spaces import NamedDiscrete


def test_a_space_of_names_is_taken_whole() -> None:
    moves = Moves(NamedDiscrete(["sroa", "gvn"], name="passes"), seed=0)
    assert len(moves) == 2
    assert moves.actions([1, 0]) == [1, 0]
    assert moves.name(1) == "gvn"


def test_a_space_that_starts_elsewhere_keeps_its_own_numbers() -> None:
    moves = Moves(gymnasium.spaces.Discrete(3, start=5), seed=0)
    assert [moves.action(move) for move in range(len(moves))] == [5, 6, 7]
    assert moves.name(0) == "5"


def test_of_any_other_space_members_are_drawn_once_from_the_seed() -> None:
    space = gymnasium.spaces.MultiDiscrete([7, 9])
    one, same, other = (Moves(space, seed=seed) for seed in (1, 1, 2))
    assert len(one) == 256
    assert all(space.contains(one.action(move)) for move in range(256))
    drawn, again, another = ([m.action(i).tolist() for i in range(256)] for m in (one, same, other))
    assert drawn == again != another
