# SPDX-License-Identifier: MIT
"""Distribute the walks of several programs over threads, each with its own environment.

The program with the least time so far goes next, so that a large program does not starve the
others. The calling thread only waits and reports.
"""

import os
import threading
import time
from collections.abc import Callable, Sequence

from compiler_gym.core import CompilerEnv, KeptForks
from compiler_gym.errors import CompilerGymError
from compiler_gym.options import SearchOptions
from compiler_gym.search.budget import Budget
from compiler_gym.search.campaign import Campaign, WalkTask
from compiler_gym.search.moves import Moves
from compiler_gym.search.tree import State
from compiler_gym.search.walker import Walker
from compiler_gym.search.watching import Improvement, SearchWatcher

__all__ = ["Scheduler", "available_jobs"]

_MOST_TO_CONFIRM = 0.5
"""The largest share of the budget reserved for replaying the results."""
_TICK = 0.1
_GRACE = 2.0
"""Seconds for threads to stop; a compiler in the middle of an action may need longer."""


def available_jobs() -> int:
    """Return the number of processors available to this process."""
    return len(os.sched_getaffinity(0))


class Scheduler:
    """Run campaigns until they are done, time is up, or the search is stopped."""

    def __init__(
        self,
        make_env: Callable[[], CompilerEnv],
        moves: Moves,
        campaigns: Sequence[Campaign],
        options: SearchOptions,
        kept: KeptForks[State],
        watcher: SearchWatcher,
    ) -> None:
        self._make_env = make_env
        self._moves = moves
        self._campaigns = campaigns
        self._options = options
        self._budget = Budget(options.seconds_allowed, options.steps)
        self._watcher = watcher
        self._changed = threading.Condition()
        self._news: list[Improvement] = []
        self._error: BaseException | None = None
        self._stopped = False
        self._started = time.monotonic()
        self._kept = kept

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    def run(self) -> None:
        """Run to the end; re-raise an error of a watcher or an environment."""
        threads = [
            threading.Thread(target=self._work, name=f"search-{i}", daemon=True)
            for i in range(self._options.jobs or available_jobs())
        ]
        self._started = time.monotonic()
        try:
            for thread in threads:
                thread.start()
            while any(thread.is_alive() for thread in threads):
                self._report()
                self._end_in_time()
                threads[0].join(_TICK) if threads[0].is_alive() else time.sleep(_TICK / 4)
            self._report()
        finally:
            self._stop(threads)
        if self._error is not None:
            raise self._error

    def _stop(self, threads: Sequence[threading.Thread]) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        end = time.monotonic() + _GRACE
        for thread in threads:
            thread.join(max(end - time.monotonic(), 0.0))
        with self._changed:
            for campaign in self._campaigns:
                campaign.conclude(self.seconds)
        self._kept.close()

    def _report(self) -> None:
        with self._changed:
            news, self._news = self._news, []
            programs = [campaign.progress() for campaign in self._campaigns]
        for improvement in news:
            self._watcher.improved(improvement)
        self._watcher.tick(self.seconds, programs)

    def _end_in_time(self) -> None:
        if self.seconds < self._budget.searching_seconds - self._seconds_to_confirm():
            return
        with self._changed:
            for campaign in self._campaigns:
                campaign.minimise()
                if self._seconds_left() <= 0:
                    campaign.finish()
            self._changed.notify_all()

    def _seconds_left(self) -> float:
        if self._stopped:
            return 0.0
        return self._budget.total_seconds - self._seconds_to_confirm() - self.seconds

    def _seconds_to_confirm(self) -> float:
        """Return the seconds to reserve for replaying the best sequences at the end."""
        expected = sum(campaign.best.seconds for campaign in self._campaigns)
        return min(expected, self._budget.total_seconds * _MOST_TO_CONFIRM)

    # -- in the threads ----------------------------------------------------------------------

    def _work(self) -> None:
        walker = None
        try:
            walker = Walker(
                self._make_env(),
                self._moves,
                self._kept,
                self._options,
                self._seconds_left,
            )
            while (task := self._next()) is not None:
                self._walk(walker, task)
        except BaseException as error:
            self._fail(error)
        finally:
            if walker is not None:
                walker.close()

    def _next(self) -> WalkTask | None:
        with self._changed:
            while self._seconds_left() > 0 and not all(c.is_done for c in self._campaigns):
                for campaign in sorted(self._campaigns, key=lambda c: c.spent):
                    task = campaign.next_task()
                    if task is not None:
                        return task
                if all(c.is_done for c in self._campaigns):
                    self._changed.notify_all()
                    return None
                self._changed.wait(_TICK)
        return None

    def _walk(self, walker: Walker, task: WalkTask) -> None:
        started = time.monotonic()
        walk = walker.walk(task.campaign.program, task.sequence)
        with self._changed:
            task.campaign.spent += time.monotonic() - started
            self._news += task.campaign.take(task, walk, self.seconds)
            self._changed.notify_all()

    def _fail(self, error: BaseException) -> None:
        with self._changed:
            if self._error is None and not (self._stopped and isinstance(error, CompilerGymError)):
                self._error = error
            self._stopped = True
            self._changed.notify_all()
