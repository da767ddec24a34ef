# SPDX-License-Identifier: MIT
"""Local search holds good programs, keeps them short and begins again when it is stuck."""

import random

from compiler_gym.search.local_search import LocalSearch
from compiler_gym.search.strategy import Moveset
from compiler_gym.search.tree import Node

from .model import best, run, walk, weights

WORTH = (0.0, 4.0, 0.0, 1.0, 0.0, 2.0, -3.0, 0.0)


def search(*starts: tuple[int, ...], seed: int = 0) -> LocalSearch:
    return LocalSearch(Moveset(len(WORTH), starts=starts), random.Random(seed))


def test_the_best_set_of_actions_is_found_without_a_useless_one() -> None:
    local = search(seed=2)
    run(local, weights(*WORTH), batches=120)
    assert sorted(local.summits[0].actions()) == [1, 3, 5]


def test_an_action_with_its_own_program_is_never_worked_on() -> None:
    earned = weights(*WORTH[:7], 100.0)
    local = search((7,), seed=1)
    walks = run(local, earned, batches=60)
    assert walks[1].requested == (7,)
    assert {one.requested for one in walks if 7 in one.requested} == {(7,)}
    found, pool = local.summits
    assert found.actions() == (7,)
    assert pool.reward == 7.0
    assert 7 not in pool.actions()


def test_only_whole_programs_to_choose_from_are_worked_on_all_the_same() -> None:
    local = LocalSearch(Moveset(2, starts=((0,), (1,))), random.Random(0))
    walks = run(local, weights(1.0, 2.0), batches=5)
    assert any(len(one.requested) > 1 for one in walks)


def test_a_suggestion_is_tried_next() -> None:
    local = search()
    run(local, weights(*WORTH), batches=3)
    local.suggest((5, 3, 1))
    assert list(local.ask()) == [(5, 3, 1)]


def test_equal_programs_are_held_once_and_by_their_shortest_sequence() -> None:
    local, root = search(), Node()
    long = Node(Node(root, 0, reward=0.0), 1, reward=4.0, state="same")
    short = Node(root, 1, reward=4.0, state="same")
    local.seed([long])
    local.seed([short])
    assert local.summits == [short, short]
    local.seed([Node(root, 3, reward=1.0, state="other")])
    assert local.summits == [short, short]


def test_a_pool_that_does_not_improve_is_left_and_its_best_is_kept_in_mind() -> None:
    local, root, earned = search(seed=4), Node(), weights(*[0.0] * 8)
    stale: list[int] = []
    while len(stale) < 200 and (not stale or stale[-1] >= (stale[-2] if len(stale) > 1 else 0)):
        local.tell([walk(root, sequence, earned) for sequence in local.ask()])
        stale.append(local.stale)
    assert stale[-2] >= 390
    assert local.stale == 0
    disturbed, fresh = list(local.ask()), list(local.ask())
    assert disturbed[0] == ()
    assert all(4 <= len(sequence) <= 24 for sequence in fresh[1:])


def test_more_walks_never_lower_the_best() -> None:
    few, many = search(seed=9), search(seed=9)
    assert best(run(few, weights(*WORTH), batches=5)).reward <= (
        best(run(many, weights(*WORTH), batches=50)).reward
    )
