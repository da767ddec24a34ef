# SPDX-License-Identifier: MIT
"""What is better, and every algorithm proposes within its moveset, again and again the same."""

import random

import pytest

from compiler_gym.search import ALGORITHMS
from compiler_gym.search.strategy import Moveset, is_better
from compiler_gym.search.tree import Node

from .model import run, weights

MOVES = Moveset(6, starts=((0,), (1, 2)), longest=12)
EARNED = weights(1.0, 0.0, 3.0, -2.0, 0.5, 0.0)


def test_more_reward_is_better_and_so_is_the_same_with_fewer_actions() -> None:
    root = Node()
    short, long = Node(root, 1, reward=2.0), Node(Node(root, 2), 3, reward=2.0)
    worse = Node(root, 4, reward=1.0)
    assert is_better(short, None)
    assert is_better(short, long)
    assert not is_better(long, short)
    assert not is_better(short, short)
    assert is_better(long, worse)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_proposals_are_of_the_moveset_and_begin_with_its_starts(algorithm: str) -> None:
    strategy = ALGORITHMS[algorithm](MOVES, random.Random(1))
    walks = run(strategy, EARNED, batches=150)
    requested = [walk.requested for walk in walks]
    assert set(MOVES.starts) <= set(requested[:3])
    assert all(0 <= action < MOVES.size for sequence in requested for action in sequence)
    if algorithm != "portfolio":  # which joins all that helped in a sweep
        assert max(map(len, requested)) <= MOVES.longest + 1  # greedy extends what is longest


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_same_seed_and_answers_give_the_same_proposals(algorithm: str) -> None:
    def proposals(seed: int) -> list[tuple[int, ...]]:
        strategy = ALGORITHMS[algorithm](MOVES, random.Random(seed))
        return [walk.requested for walk in run(strategy, EARNED, batches=40)]

    assert proposals(5) == proposals(5)
    if algorithm != "greedy":  # which draws nothing
        assert proposals(5) != proposals(6)
