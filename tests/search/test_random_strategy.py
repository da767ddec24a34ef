# SPDX-License-Identifier: MIT
"""Random search tries the starts once and then draws sequences of any length."""

import random

from compiler_gym.search.random_strategy import RandomSearch
from compiler_gym.search.strategy import Moveset


def test_starts_come_first_and_once() -> None:
    strategy = RandomSearch(Moveset(3, starts=((2,), (0, 1))), random.Random(0))
    assert list(strategy.ask()) == [(2,), (0, 1)]
    assert len(strategy.ask()) == 8


def test_every_length_and_every_action_is_drawn() -> None:
    strategy = RandomSearch(Moveset(4, longest=5), random.Random(0))
    drawn = [sequence for _ in range(60) for sequence in strategy.ask()]
    assert {len(sequence) for sequence in drawn} == {1, 2, 3, 4, 5}
    assert {action for sequence in drawn for action in sequence} == {0, 1, 2, 3}


def test_results_of_other_searches_change_nothing() -> None:
    told, untold = (RandomSearch(Moveset(4), random.Random(3)) for _ in range(2))
    told.suggest((1, 1, 1))
    told.tell([])
    assert told.ask() == untold.ask()
