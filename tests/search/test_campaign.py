# SPDX-License-Identifier: MIT
"""One program's search: batches judged in order, a budget kept, the best remembered."""

import random
from collections.abc import Sequence

import pytest

from compiler_gym.search.campaign import Campaign, WalkTask
from compiler_gym.search.greedy import GreedySearch
from compiler_gym.search.moves import Moves
from compiler_gym.search.strategy import MoveSequence, Moveset, Strategy
from compiler_gym.search.tree import Walk
from compiler_gym.search.walker import SearchedProgram
from compiler_gym.spaces import NamedDiscrete

from .model import walk, weights

EARNED = weights(1.0, 5.0, 0.0, -1.0)


class Listed:
    """Proposes the batches it was given and notes what it is told."""

    def __init__(self, *batches: Sequence[MoveSequence]) -> None:
        self.batches = list(batches)
        self.told: list[list[MoveSequence]] = []
        self.suggested: list[MoveSequence] = []

    def ask(self) -> Sequence[MoveSequence]:
        return self.batches.pop(0) if self.batches else ()

    def tell(self, walks: Sequence[Walk]) -> None:
        self.told.append([one.requested for one in walks])

    def suggest(self, sequence: MoveSequence) -> None:
        self.suggested.append(sequence)


def campaign(strategy: Strategy, steps: int | None = None) -> Campaign:
    moves = Moves(NamedDiscrete([f"move{number}" for number in range(6)], "moves"), seed=0)
    return Campaign(0, SearchedProgram(None), "benchmark://puzzle-v0/door", strategy, steps, moves)


def done(of: Campaign, task: WalkTask, seconds: float = 0.0) -> list[float]:
    found = of.take(task, walk(of.program.root, task.sequence, EARNED, fails=3), seconds)
    return [improvement.reward for improvement in found]


def tasks(of: Campaign) -> list[WalkTask]:
    found: list[WalkTask] = []
    while (task := of.next_task()) is not None:
        found.append(task)
    return found


def finish(of: Campaign) -> None:
    while not of.is_done:
        for task in tasks(of):
            done(of, task)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_the_order_in_which_threads_come_back_makes_no_difference(order: Sequence[int]) -> None:
    listed = Listed([(0,), (1, 2), (1, 0)])
    one = campaign(listed)
    out = tasks(one)
    assert len(out) == 3
    found = [done(one, out[place]) for place in order]
    assert found == [[], [], [1.0, 5.0, 6.0]]
    assert listed.told == [[(0,), (1, 2), (1, 0)]]
    assert one.best.actions() == (1, 0)
    assert [improvement.actions for improvement in one.improvements] == [(0,), (1,), (1, 0)]


def test_nothing_more_is_handed_out_while_a_batch_is_out() -> None:
    one = campaign(Listed([(0,)], [(1,)]))
    (task,) = tasks(one)
    assert one.next_task() is None
    done(one, task)
    again = one.next_task()
    assert again is not None
    assert again.sequence == (1,)


def test_steps_sequences_and_failures_are_counted() -> None:
    one = campaign(Listed([(0, 1), (0, 3), (0, 1)]))
    for task in tasks(one):
        done(one, task)
    progress = one.progress()
    assert (progress.steps, progress.sequences, progress.failures) == (3, 3, 1)
    assert (progress.reward, progress.length, progress.phase) == (6.0, 2, "searching")


def test_a_batch_is_cut_to_the_steps_that_are_left_and_then_the_best_is_shortened() -> None:
    one = campaign(Listed([(2, 1), (0,), (1,)], [(0, 1)]), steps=2)
    first = tasks(one)
    assert [task.sequence for task in first] == [(2, 1), (0,)]
    for task in first:
        done(one, task)
    assert one.counts.steps == 3
    finish(one)
    assert one.best.actions() == (1,)
    assert one.phase == "done"


def test_a_search_of_known_programs_ends() -> None:
    class Stubborn(Listed):
        def ask(self) -> Sequence[MoveSequence]:
            return [()]

    one = campaign(Stubborn(), steps=20)
    finish(one)
    assert one.counts.steps == one.counts.sequences == 20


def test_a_batch_that_is_cut_short_counts_and_is_not_told() -> None:
    listed = Listed([(0,), (1,)], [(2,)])
    one = campaign(listed)
    first, second = tasks(one)
    done(one, first)
    assert [i.reward for i in one.conclude(1.5)] == [1.0]
    assert one.improvements[0].seconds == 1.5
    assert listed.told == []
    assert second.place == 1


def test_minimising_and_finishing_drop_what_waits() -> None:
    one = campaign(Listed([(0,), (1,)]))
    assert one.next_task() is not None
    one.minimise()
    assert one.phase == "minimising"
    assert one.next_task() is None
    one.finish()
    one.minimise()
    assert one.is_done
    assert one.next_task() is None


def test_results_of_other_searches_are_suggested_once() -> None:
    here = Listed(*[[(2,)]] * 14)
    one, other = campaign(here), campaign(Listed([(1,)]))
    for task in tasks(other):
        done(other, task)
    one.others = [other]
    for _ in range(13):
        for task in tasks(one):
            done(one, task)
    assert here.suggested == [(1,)]


def test_a_greedy_campaign_ends_by_itself() -> None:
    one = campaign(GreedySearch(Moveset(3), random.Random(0)))
    finish(one)
    assert one.best.actions() == (1, 0)
