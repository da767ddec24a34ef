# SPDX-License-Identifier: MIT
"""Walks are spread over threads, and all of them end in time."""

import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence

import pytest

from compiler_gym.core import CompilerEnv, KeptForks
from compiler_gym.errors import ServiceInitError
from compiler_gym.options import SearchOptions
from compiler_gym.search import Budget
from compiler_gym.search.campaign import Campaign
from compiler_gym.search.moves import Moves
from compiler_gym.search.random_strategy import RandomSearch
from compiler_gym.search.scheduler import Scheduler
from compiler_gym.search.strategy import Moveset
from compiler_gym.search.walker import SearchedProgram
from compiler_gym.search.watching import SearchProgress, SearchWatcher, Silent

from .puzzle import make_puzzle


@pytest.fixture
def env() -> Iterator[CompilerEnv]:
    with make_puzzle() as made:
        made.reset()
        yield made


def campaigns(env: CompilerEnv, count: int, steps: int | None = None) -> list[Campaign]:
    moves = Moves(env.action_space, seed=0)
    strategies = [RandomSearch(Moveset(6), random.Random(seed)) for seed in range(count)]
    return [
        Campaign(index, SearchedProgram(env.benchmark), f"program {index}", strategy, steps, moves)
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
