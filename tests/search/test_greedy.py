# SPDX-License-Identifier: MIT
"""Greedy searches climb by the best single action."""

import random

from compiler_gym.search import (
    Budget,
    SearchResult,
    run_search,
)
from compiler_gym.search.greedy import EpsilonGreedySearch, GreedySearch
from compiler_gym.search.strategy import Moveset
from search.puzzle import (
    AFTER_WHOLE,
    INITIAL,
    make_puzzle,
)

from .model import best, run, weights


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
