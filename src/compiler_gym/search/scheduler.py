# SPDX-License-Identifier: MIT
"""Distribute the walks of several programs over threads, each with its own environment.

The program with the least time so far goes next, so that a large program does not starve the
others. The calling thread only waits and reports. The search of one program proposes sequences in
batches, and a batch is judged as a whole and in order, so the number and the order of the threads
that walk it make no difference.
"""

import os
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from compiler_gym.core import CompilerEnv, KeptForks
from compiler_gym.errors import CompilerGymError
from compiler_gym.options import SearchOptions
from compiler_gym.search.minimise import Minimiser
from compiler_gym.search.moves import Moves
from compiler_gym.search.results import Budget, Improvement, SearchProgress, SearchWatcher
from compiler_gym.search.strategy import MoveSequence, Strategy, is_better
from compiler_gym.search.tree import Failure, Node, State, Walk
from compiler_gym.search.walker import SearchedProgram, Walker

_BATCHES_PER_EXCHANGE = 6


class WalkTask(NamedTuple):
    """One sequence to walk."""

    campaign: "Campaign"
    place: int
    """The index of the sequence in its batch."""
    sequence: MoveSequence


@dataclass(slots=True)
class _Counts:
    steps: int = 0
    sequences: int = 0
    recognised: int = 0
    failures: int = 0


class Campaign:
    """The search of one program. Its methods are called under the scheduler's lock."""

    def __init__(
        self,
        index: int,
        program: SearchedProgram,
        name: str,
        strategy: Strategy,
        budget: Budget,
        moves: Moves,
    ) -> None:
        self.index = index
        self._moves = moves
        self.failures: Counter[Failure] = Counter()
        """Number of sequences that ended with each failure."""
        self.program = program
        self.name = name
        self.counts = _Counts()
        self.spent = 0.0
        """Seconds of work on this program, over all threads."""
        self.bests: list[Node] = [program.root]
        """Each best sequence so far, the latest last."""
        self.improvements: list[Improvement] = []
        self.phase = "waiting"
        self._strategy: Strategy = strategy
        self._budget = budget
        self._compiled = 0
        self.others: Sequence[Campaign] = ()
        """Programs whose best sequences are tried here too. Their progress depends on time:
        without other programs, a search not limited by time is deterministic."""
        self._proposer: Strategy = strategy
        """The strategy that proposed the batch in progress."""
        self._waiting: deque[WalkTask] = deque()
        self._walks: list[Walk | None] = []
        self._out = 0
        self._batches = 0
        self._suggested: set[MoveSequence] = set()
        self._seen: set[State] = set()

    @property
    def best(self) -> Node:
        """The best sequence so far."""
        return self.bests[-1]

    @property
    def is_done(self) -> bool:
        """True if the search of this program has ended."""
        return self.phase == "done"

    def next_task(self) -> WalkTask | None:
        """Return a sequence to walk, or None while the rest of the batch is being walked."""
        if not self._waiting and not self._out and not self.is_done:
            self._propose()
        if not self._waiting:
            return None
        self._out += 1
        return self._waiting.popleft()

    def take(self, task: WalkTask, walk: Walk, seconds: float) -> list[Improvement]:
        """Store the result of a task and return the improvements once its batch is complete."""
        self._walks[task.place] = walk
        self._out -= 1
        self.counts.sequences += 1
        if self._out or self._waiting:
            return []
        walks = [walk for walk in self._walks if walk is not None]
        is_complete = len(walks) == len(self._walks)
        improvements = self.conclude(seconds)
        if is_complete and self._proposer is self._strategy:
            self._strategy.tell(walks)
        if isinstance(self._strategy, Minimiser):
            self._remember(self._strategy.node)
            if self.best.reward > self._strategy.node.reward:
                self._strategy = self._minimiser()
        return improvements

    def conclude(self, seconds: float) -> list[Improvement]:
        """Judge the batch, complete or not, and return its improvements."""
        walks = [walk for walk in self._walks if walk is not None]
        self._walks = []
        improvements = list(self._judge(walks, seconds))
        self.improvements += improvements
        return improvements

    def minimise(self) -> None:
        """Stop searching and shorten the best sequence."""
        if self.phase in ("waiting", "searching"):
            self.phase = "minimising"
            self._waiting.clear()

    def finish(self) -> None:
        """End the search immediately."""
        self.phase = "done"
        self._waiting.clear()

    def progress(self) -> SearchProgress:
        """Return the progress of this program's search."""
        best, counts = self.best, self.counts
        return SearchProgress(
            benchmark=self.name,
            reward=best.reward,
            length=best.length,
            steps=counts.steps,
            sequences=counts.sequences,
            failures=counts.failures,
            phase=self.phase,
        )

    def _propose(self) -> None:
        if self.phase == "waiting":
            self.phase = "searching"
        batch = self._search_next() if self.phase == "searching" else ()
        if not batch:
            self.minimise()
            if self._moves.rest is not None:  # later answers apply to other questions then
                self.finish()
                return
            if not isinstance(self._strategy, Minimiser):
                self._strategy = self._minimiser()
            batch = self._strategy.ask()
        if not batch:
            self.finish()
            return
        self._proposer = self._strategy
        self._walks = [None] * len(batch)
        batch = [self._moves.finish(sequence) for sequence in batch]
        for sequence in batch:
            departure = self.program.root.departure(sequence)
            if departure is not None:
                departure.known.expected += 1
        self._waiting.extend(WalkTask(self, i, sequence) for i, sequence in enumerate(batch))

    def _minimiser(self) -> Minimiser:
        return Minimiser(self.best, self._moves.pack, self._moves.flat)

    def _search_next(self) -> Sequence[MoveSequence]:
        """Return the next sequences to try, within the budget."""
        self._batches += 1
        if self._batches % _BATCHES_PER_EXCHANGE == 0:
            self._exchange()
        steps, sequences = self._budget.steps, self._budget.sequences
        steps_left = sys.maxsize if steps is None else steps - self.counts.steps
        left = sys.maxsize if sequences is None else sequences - self._compiled
        if min(steps_left, left) <= 0:
            return ()
        batch = self._strategy.ask()[:steps_left]
        compiled = list(accumulate(map(bool, batch)))  # the empty sequence does not count
        self._compiled += min(compiled[-1], left) if compiled else 0
        return [one for one, number in zip(batch, compiled, strict=True) if number <= left]

    def _exchange(self) -> None:
        for other in self.others:
            sequence = other.best.actions()
            if sequence not in self._suggested:
                self._suggested.add(sequence)
                self._strategy.suggest(sequence)

    def _judge(self, walks: list[Walk], seconds: float) -> Iterator[Improvement]:
        # A batch without a new action counts too, so that a search of known programs ends.
        self.counts.steps += max(sum(walk.new_steps for walk in walks), bool(walks))
        for walk in walks:
            self.counts.recognised += walk.last.known in self._seen
            self._seen.update(node.known for node in walk.nodes)
            if walk.failure is not None:
                self.counts.failures += 1
                self.failures[walk.failure] += 1
            best = walk.best if self._moves.rest is None else walk.last
            gained = best.reward > self.best.reward
            self._remember(best)
            if gained and self.best is best:
                yield Improvement(
                    program=self.index,
                    benchmark=self.name,
                    seconds=seconds,
                    steps=self.counts.steps,
                    sequences=self.counts.sequences,
                    reward=best.reward,
                    actions=self._moves.flat(best.actions()),
                )

    def _is_result(self, node: Node) -> bool:
        """Return True if `node` is a finished program, which can be a result."""
        return self._moves.rest is None or node.known.terminal

    def _remember(self, node: Node) -> None:
        if node is self.best or not self._is_result(node):
            return
        if is_better(node, self.best if self._is_result(self.best) else None):
            self.bests.append(node)


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
        self._budget = Budget.of(options)
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
