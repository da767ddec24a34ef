# SPDX-License-Identifier: MIT
"""Local search, its mutations, and portfolios."""

import random

from compiler_gym.search.local_search import LocalSearch, PortfolioSearch, SequenceMutator
from compiler_gym.search.strategy import CONTINUE, Moveset
from compiler_gym.search.tree import Node

from .model import best, run, walk, weights


def test_neighbours_hold_known_actions_only_and_are_not_too_long() -> None:
    mutator = SequenceMutator(range(10), random.Random(0), longest=12)
    sequence = [1, 2, 3]
    for _ in range(500):
        changed = mutator.neighbour(sequence, [[4, 5], [], [6] * 11])
        assert set(changed) <= set(range(10))
        assert len(changed) <= 12
    assert sequence == [1, 2, 3]


def test_actions_that_pay_off_are_proposed_more_often() -> None:
    mutator = SequenceMutator(range(10), random.Random(0), longest=12)
    for _ in range(20):
        mutator.learn([3, 4], [3], gain=True)
        mutator.learn([5], [], gain=False)
    proposed = [mutator.move() for _ in range(1000)]
    assert proposed.count(3) > 3 * proposed.count(4)
    assert proposed.count(3) > 10 * proposed.count(5) > 0


def test_actions_that_are_left_out_are_never_proposed() -> None:
    mutator = SequenceMutator([2, 4, 6], random.Random(0), longest=12)
    mutator.learn([3, 4], [3, 4], gain=True)
    assert {mutator.move() for _ in range(200)} == {2, 4, 6}


def test_an_empty_sequence_has_neighbours() -> None:
    mutator = SequenceMutator(range(3), random.Random(0), longest=5)
    assert any(mutator.neighbour([], [[]]) for _ in range(50))


def test_new_sequences_are_not_too_long_either() -> None:
    mutator = SequenceMutator(range(3), random.Random(0), longest=5)
    assert max(len(mutator.random()) for _ in range(50)) == 5


def test_actions_before_the_start_of_a_change_stay() -> None:
    mutator = SequenceMutator(range(10), random.Random(0), longest=12)
    sequence = [1, 2, 3, 4]
    changed = [mutator.neighbour(sequence, [[4, 5]], 3) for _ in range(100)]
    assert all(one[:3] == [1, 2, 3] for one in changed)
    assert sum(one == sequence for one in changed) <= 5


def test_changes_begin_near_the_end_and_sometimes_at_the_beginning() -> None:
    mutator = SequenceMutator(range(10), random.Random(0), longest=12)
    places = [mutator.place(20) for _ in range(2000)]
    assert {0, 10, 20} <= set(places) <= set(range(21))
    assert 15 < sum(places) / len(places) < 18


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


def test_a_continuation_begins_with_the_best_so_far_and_later_starts_wait() -> None:
    starts = ((3, 0), (1, 0), (5, 6))
    opening = (*starts[:2], (CONTINUE, 5, 0), (CONTINUE, 3), starts[2])
    local = LocalSearch(Moveset(len(WORTH), starts, opening), random.Random(0))
    earned = weights(*WORTH)
    first = [one.requested for one in run(local, earned, batches=3)]
    assert first == [(), (3, 0), (1, 0), (1, 5, 0), (1, 5, 3)]
    walks = run(local, earned, batches=30)
    later = next(n for n, one in enumerate(walks) if one.requested == (5, 6))
    assert max(one.best.reward for one in walks) == 7.0  # as the continuations
    assert 32 <= later <= 48


def test_starts_without_continuations_all_come_first() -> None:
    starts = tuple((1, move) for move in range(8))
    local = LocalSearch(Moveset(len(WORTH), starts), random.Random(0))
    assert [one.requested for one in run(local, weights(*WORTH), batches=2)] == [(), *starts]


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
