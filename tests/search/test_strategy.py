# SPDX-License-Identifier: MIT
"""The simple algorithms, on a puzzle."""

import random

import pytest

from compiler_gym.search import (
    ALGORITHMS,
    Budget,
    SearchResult,
    run_search,
)
from compiler_gym.search.strategy import (
    EpsilonGreedySearch,
    GreedySearch,
    Moveset,
    RandomSearch,
    is_better,
)
from compiler_gym.search.tree import Node
from search.puzzle import (
    AFTER_WHOLE,
    INITIAL,
    make_puzzle,
)

from .model import best, run, weights

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


def search_puzzle(algorithm: str, **options: object) -> SearchResult:
    options = {"budget": Budget(steps=300), "jobs": 2, "step_seconds": 60.0, **options}
    make_env = options.pop("make_env", make_puzzle)
    return run_search(make_env, algorithm=algorithm, **options)[0]  # type: ignore[arg-type]


def test_greedy_takes_what_helps_at_once_and_stops_by_itself() -> None:
    result = search_puzzle("greedy", budget=Budget(steps=10_000))
    assert result.reward == INITIAL - AFTER_WHOLE + 3
    assert result.steps < 100


def test_a_climb_takes_the_best_single_action_until_none_helps() -> None:
    strategy = GreedySearch(Moveset(4), random.Random(0))
    walks = run(strategy, weights(1.0, 5.0, 2.0, -1.0), batches=100)
    assert best(walks).actions() == (1, 2, 0)
    assert len(walks) == 1 + 4 * 4  # no actions; then every action at each of four places
    assert list(strategy.ask()) == []


def test_it_climbs_from_a_start_and_then_from_no_actions() -> None:
    strategy = GreedySearch(Moveset(3, starts=((2,),)), random.Random(0))
    requested = [walk.requested for walk in run(strategy, weights(1.0, 0.0, 1.0), batches=100)]
    assert requested[:5] == [(), (2,), (2, 0), (2, 1), (2, 2)]
    assert (0,) in requested


def test_no_sequence_passes_the_longest() -> None:
    strategy = GreedySearch(Moveset(2, longest=3), random.Random(0))
    walks = run(strategy, len, batches=100)
    assert best(walks).depth == 3


def test_an_epsilon_of_one_walks_at_random_and_of_nothing_climbs() -> None:
    class Wild(EpsilonGreedySearch):
        epsilon = 1.0

    class Tame(EpsilonGreedySearch):
        epsilon = 0.0

    worth = weights(1.0, 5.0, 2.0, -1.0)
    wild = run(Wild(Moveset(4), random.Random(0)), worth, batches=20)
    assert len(wild) == 20
    tame = run(Tame(Moveset(4), random.Random(0)), worth, batches=5)
    assert best(tame).actions() == (1, 2, 0)
    assert len(tame) == 1 + 4 * 4


def test_an_episode_that_no_step_helps_begins_again_at_an_origin() -> None:
    strategy = EpsilonGreedySearch(Moveset(2, longest=8), random.Random(1))
    walks = run(strategy, weights(1.0, 1.0), batches=40)
    assert best(walks).reward == 2.0
    assert sum(walk.requested == (0,) for walk in walks) > 1
