# SPDX-License-Identifier: MIT
"""A portfolio sweeps every action when local search is stuck, and joins what helped."""

import random

from compiler_gym.search.portfolio import PortfolioSearch
from compiler_gym.search.strategy import Moveset
from compiler_gym.search.tree import Node

from .model import best, run, walk, weights

SIZE = 120
HELPFUL = {100: 1.0, 107: 2.0, 113: 3.0}
"""Three in 120 help: neighbours hardly meet one, a sweep meets all."""
EARNED = weights(*(HELPFUL.get(action, -0.5) for action in range(SIZE)))


def stuck() -> tuple[PortfolioSearch, Node]:
    portfolio = PortfolioSearch(Moveset(SIZE), random.Random(0))
    nothing_helps, root = weights(*[-0.5] * SIZE), Node()
    for _ in range(60):
        asked = portfolio.ask()
        if len(asked) == SIZE:
            return portfolio, root
        portfolio.tell([walk(root, sequence, nothing_helps) for sequence in asked])
    raise AssertionError("it never swept")


def test_a_sweep_tries_every_action_once_from_the_best() -> None:
    portfolio, _ = stuck()
    assert list(portfolio.ask()) == [(action,) for action in range(SIZE)]


def test_helpful_actions_of_a_sweep_are_joined_in_several_orders() -> None:
    portfolio, _ = stuck()
    root = Node()
    portfolio.tell([walk(root, sequence, EARNED) for sequence in portfolio.ask()])
    orders = list(portfolio.ask())
    assert orders[:2] == [(113, 107, 100), (100, 107, 113)]
    assert all(sorted(order) == [100, 107, 113] for order in orders)
    portfolio.tell([walk(root, sequence, EARNED) for sequence in orders])
    assert next(iter(portfolio.ask()))[:3] == (113, 107, 100)


def test_a_sweep_without_a_gain_ends_the_climb() -> None:
    portfolio, root = stuck()
    nothing_helps = weights(*[-0.5] * SIZE)
    portfolio.tell([walk(root, sequence, nothing_helps) for sequence in portfolio.ask()])
    assert len(portfolio.ask()) == 8  # local search again


def test_it_finds_what_neighbours_hardly_meet() -> None:
    portfolio = PortfolioSearch(Moveset(SIZE), random.Random(1))
    found = best(run(portfolio, EARNED, batches=80))
    assert sorted(found.actions()) == [100, 107, 113]


def test_a_suggestion_is_handed_to_the_local_search() -> None:
    portfolio = PortfolioSearch(Moveset(SIZE), random.Random(1))
    portfolio.ask()
    portfolio.suggest((113,))
    assert (113,) in portfolio.ask()
