# SPDX-License-Identifier: MIT
"""Budgets, campaigns and threads of a search."""

import math
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence

import pytest

from compiler_gym.core import CompilerEnv, KeptForks
from compiler_gym.errors import InvalidParameterError, ServiceInitError
from compiler_gym.options import SearchOptions
from compiler_gym.search import Budget
from compiler_gym.search.moves import Moves
from compiler_gym.search.results import SearchProgress, SearchWatcher, Silent
from compiler_gym.search.scheduler import Campaign, Scheduler, WalkTask
from compiler_gym.search.strategy import GreedySearch, MoveSequence, Moveset, RandomSearch, Strategy
from compiler_gym.search.tree import Walk
from compiler_gym.search.walker import SearchedProgram
from compiler_gym.spaces import NamedDiscrete

from .model import walk, weights
from .puzzle import make_puzzle


@pytest.mark.parametrize(
    "bounds",
    [{}, {"seconds": 0}, {"seconds": -1}, {"seconds": math.inf}, {"steps": 0}, {"sequences": 0}],
)
def test_a_budget_without_an_end_or_without_a_beginning_is_refused(
    bounds: dict[str, float],
) -> None:
    with pytest.raises(InvalidParameterError, match=r"set seconds|must be|expected"):
        Budget(**bounds)  # type: ignore[arg-type]


def test_time_is_kept_back_for_shortening_the_result() -> None:
    assert 0 < Budget(seconds=10).searching_seconds < Budget(seconds=10).total_seconds == 10
    assert Budget(steps=1).total_seconds == math.inf


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


def campaign(
    strategy: Strategy, steps: int | None = None, sequences: int | None = None
) -> Campaign:
    moves = Moves(NamedDiscrete([f"move{number}" for number in range(6)], "moves"), seed=0)
    program, budget = SearchedProgram(None), Budget(60.0, steps, sequences)
    return Campaign(0, program, "benchmark://puzzle-v0/door", strategy, budget, moves)


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


def test_a_batch_is_cut_to_the_sequences_that_are_left() -> None:
    one = campaign(Listed([(2, 1), (0,)], [(1,), (0, 1), (2,)]), steps=100, sequences=3)
    searched: list[MoveSequence] = []
    while one.progress().phase != "minimising" and (batch := tasks(one)):
        searched += [task.sequence for task in batch]
        for task in batch:
            done(one, task)
    assert searched[:3] == [(2, 1), (0,), (1,)]
    assert (0, 1) not in searched


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


@pytest.fixture
def env() -> Iterator[CompilerEnv]:
    with make_puzzle() as made:
        made.reset()
        yield made


def campaigns(env: CompilerEnv, count: int, steps: int | None = None) -> list[Campaign]:
    moves = Moves(env.action_space, seed=0)
    strategies = [RandomSearch(Moveset(6), random.Random(seed)) for seed in range(count)]
    return [
        Campaign(
            index,
            SearchedProgram(env.benchmark),
            f"program {index}",
            strategy,
            Budget(60.0, steps),
            moves,
        )
        for index, strategy in enumerate(strategies)
    ]


def scheduler(
    env: CompilerEnv,
    campaigns: Sequence[Campaign],
    *,
    budget: Budget,
    jobs: int = 2,
    make_env: Callable[[], CompilerEnv] = make_puzzle,
    watcher: SearchWatcher | None = None,
) -> Scheduler:
    return Scheduler(
        make_env,
        Moves(env.action_space, seed=0),
        campaigns,
        SearchOptions(
            seconds=budget.seconds,
            steps=budget.steps,
            jobs=jobs,
            step_seconds=5.0,
            level_seconds=5.0,
        ),
        KeptForks(8),
        watcher or Silent(),
    )


def searchers() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name.startswith("search-")]


def test_every_program_gets_its_steps_and_no_thread_stays(env: CompilerEnv) -> None:
    several = campaigns(env, 3, steps=20)
    scheduler(env, several, budget=Budget(steps=20)).run()
    assert all(one.is_done and one.counts.steps >= 20 and one.spent > 0 for one in several)
    assert searchers() == []


def test_the_end_of_the_time_is_the_end_of_the_search(env: CompilerEnv) -> None:
    several = campaigns(env, 2)
    one = scheduler(env, several, budget=Budget(seconds=0.5))
    began = time.monotonic()
    one.run()
    assert 0.3 < time.monotonic() - began < 120
    assert one.seconds > 0.3
    assert all(found.best.reward >= 0 for found in several)
    assert searchers() == []


def test_a_watcher_hears_of_every_improvement_in_the_calling_thread(env: CompilerEnv) -> None:
    class Noting(Silent):
        def __init__(self) -> None:
            self.rewards: list[float] = []
            self.threads: set[int] = set()
            self.phases: set[str] = set()

        def improved(self, improvement: object) -> None:
            self.rewards.append(improvement.reward)  # type: ignore[attr-defined]
            self.threads.add(threading.get_ident())

        def tick(self, seconds: float, programs: Sequence[SearchProgress]) -> None:
            self.phases.update(program.phase for program in programs)

    watcher, (one,) = Noting(), campaigns(env, 1, steps=60)
    scheduler(env, [one], budget=Budget(steps=60), watcher=watcher).run()
    assert watcher.rewards == [improvement.reward for improvement in one.improvements]
    assert watcher.threads == {threading.get_ident()}
    assert "done" in watcher.phases


def test_an_environment_that_cannot_be_made_ends_the_search_with_its_error(
    env: CompilerEnv,
) -> None:
    def broken() -> CompilerEnv:
        raise ServiceInitError("no compiler here")

    with pytest.raises(ServiceInitError, match="no compiler here"):
        scheduler(env, campaigns(env, 1), budget=Budget(seconds=60), make_env=broken).run()
    assert searchers() == []
