# SPDX-License-Identifier: MIT
"""The search for the smallest binary, with its limit and its journal, for any compiler.

It runs one stage after the other until its allowance is used up. No stage depends on the size of
the allowance, so a longer search tries the same states and then more. The compiler's part defines
the decisions and measures states; measured states are in the journal and never measured again.
A few states are always in progress, so that no processor waits for the slowest of a batch. They
are judged in the order in which they began, so the result does not depend on the number of jobs.
"""

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec

from compiler_gym.errors import CacheError, InvalidParameterError, PlanError
from compiler_gym.files import append_line, whole_lines

Item = TypeVar("Item")
JOURNAL = "tried.jsonl"
"""The name of the journal, in the folder of a binary."""


class Allowance:
    """A limit and its unused remainder. The time starts with `begin`.

    >>> allowance = Allowance(compilations=10)
    >>> allowance.take(["x"] * 12) == ["x"] * 10, allowance.is_over
    (True, True)
    """

    def __init__(
        self,
        *,
        seconds: float | None = None,
        compilations: int | None = None,
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        if seconds is None and compilations is None:
            raise InvalidParameterError(
                "a tuning needs a limit: give seconds, compilations or both"
            )
        if seconds is not None and not 0 <= seconds < math.inf:
            raise InvalidParameterError(f"seconds must be finite and at least 0 (got {seconds})")
        if compilations is not None and compilations < 0:
            raise InvalidParameterError(f"compilations must be at least 0 (got {compilations})")
        self.seconds = seconds
        """The total time in seconds; None if only compilations count."""
        self._end: float | None = None
        self._left = compilations
        self.used = 0
        """The number of compilations used so far."""
        self.reserved = 0.0
        """The seconds to keep for what comes after, such as testing the result."""
        self.is_stopped = is_stopped
        """Returns True if the user wants to stop early."""

    @property
    def seconds_left(self) -> float:
        """The remaining time without the reserve; infinite if only compilations count."""
        return max(self.seconds_to_end - self.reserved, 0.0)

    @property
    def seconds_to_end(self) -> float:
        """The remaining time with the reserve; infinite if only compilations count."""
        if self.seconds is None:
            return math.inf
        return self.seconds if self._end is None else max(self._end - time.monotonic(), 0.0)

    @property
    def is_late(self) -> bool:
        """True if the time is used up, or the user wants to stop."""
        return self.seconds_left <= 0 or self.is_stopped()

    @property
    def compilations_left(self) -> int | None:
        """The remaining compilations; None if only seconds count."""
        return self._left

    @property
    def is_over(self) -> bool:
        """True if the time or the compilations are used up, or the user wants to stop."""
        return self.is_late or self._left == 0

    def begin(self) -> "Allowance":
        """Start the time, unless it is running already."""
        if self._end is None and self.seconds is not None:
            self._end = time.monotonic() + self.seconds
        return self

    def take(self, items: Sequence[Item]) -> list[Item]:
        """Return as many of `items` as compilations remain, and count them as used."""
        taken = list(items)[: self._left] if self._left is not None else list(items)
        self.used += len(taken)
        if self._left is not None:
            self._left -= len(taken)
        return taken


@dataclass(frozen=True, slots=True)
class Tried:
    """Decisions and their cost."""

    actions: tuple[str, ...]
    cost: float
    """Bytes or seconds; infinite if the decisions failed."""


class _Line(msgspec.Struct):
    """One line of a journal."""

    key: str
    cost: float | None
    actions: tuple[str, ...]


class Journal:
    """The measured states of one search, stored in a file."""

    def __init__(
        self,
        path: Path,
        key: str,
        *,
        require_possible: Callable[[tuple[str, ...]], None] = lambda actions: None,
    ) -> None:
        """Read the file; `require_possible` raises `PlanError` for actions that no search tries.

        Journals are untrusted, as plans are.
        """
        self._path, self._key = path, key
        self._costs: dict[tuple[str, ...], float] = {}
        self._lock = threading.Lock()
        for line in whole_lines(path):
            try:
                entry = msgspec.convert(line, _Line)
            except msgspec.ValidationError:
                continue
            if entry.key == key:
                try:
                    require_possible(entry.actions)
                except PlanError as error:
                    raise PlanError(f"{path}: {error}, or delete that file") from error
                self._costs[entry.actions] = math.inf if entry.cost is None else entry.cost

    def cost(self, actions: tuple[str, ...]) -> float | None:
        """Return the cost of `actions`, or None if they were not tried."""
        return self._costs.get(actions)

    def iterate_tried(self) -> Iterator[Tried]:
        """Yield all tried states in order."""
        for actions, cost in list(self._costs.items()):
            yield Tried(actions, cost)

    def add(self, stage: str, tried: Tried) -> None:
        """Append one line; raise `CacheError` if it cannot be written."""
        cost = None if math.isinf(tried.cost) else tried.cost
        line = {"key": self._key, "stage": stage, "cost": cost, "actions": tried.actions}
        with self._lock:
            self._costs[tried.actions] = tried.cost
            try:
                append_line(self._path, line, sync=False)
            except OSError as error:
                raise CacheError(f"cannot write {self._path}: {error.strerror}") from error


State = tuple[str, ...]
"""Decisions in a canonical order, so that equal states compare equal."""
Work = Callable[["SizeSearch", str, Allowance], object]
"""The function of a stage; its arguments are the search, the stage's name and the allowance."""
Move = TypeVar("Move", str, tuple[str, str])
Token = TypeVar("Token")
_AHEAD = 4
"""The number of states in progress at a time, for any number of processors."""


class Decisions(Protocol):
    """A compiler's part of a search."""

    def measuring(self) -> AbstractContextManager[object]:
        """Return a context that is open while costs are measured."""
        ...

    def stages(self) -> Iterable[tuple[str, Work]]:
        """Return the stages in order; they do not depend on the allowance."""
        ...

    def cost(self, state: State) -> float:
        """Return the bytes of `state`, infinite if it fails; several threads call this at once."""
        ...

    def forget(self, keep: Collection[State]) -> None:
        """Delete the files of every state that is not in `keep`."""
        ...

    def without(self, state: State) -> Mapping[str, State]:
        """Return `state` without each of its decisions, by the decision's name in a plan."""
        ...

    def rank(self, tried: Tried) -> tuple[float, ...]:
        """Return a sort key: the better of two states has the smaller one."""
        ...


@dataclass
class SizeSearch:
    """A search for the decisions of one binary."""

    decisions: Decisions
    allowance: Allowance
    journal: Journal
    watch: Callable[[str, Tried], None] = field(default_factory=lambda: lambda stage, best: None)
    """Called with the stage and the best state so far, after every measurement."""
    jobs: int = 1
    best: Tried = field(default_factory=lambda: Tried((), math.inf))
    first: int = 0
    """The bytes of the first state that worked."""
    count: int = 0
    """The number of states that were measured."""
    gains: Mapping[str, int] = field(default_factory=dict[str, int])
    """The bytes that the best state grows without each decision, as far as time allowed."""

    def run(self) -> Tried:
        """Return the best state and its bytes; stop when the allowance is used up."""
        for tried in self.journal.iterate_tried():
            self._consider("resumed", tried)
        with self.decisions.measuring():
            self._pool = ThreadPoolExecutor(self.jobs)
            try:
                self.allowance.begin()
                for stage, work in self.decisions.stages():
                    work(self, stage, self.allowance)
                    if self.allowance.is_over:
                        break
            finally:
                self._pool.shutdown(cancel_futures=True)
        return self.best

    def keep(self, stage: str, state: State) -> None:
        """Consider a state that was found and counted elsewhere as the best one."""
        if self.journal.cost(state) is None:
            self.journal.add(stage, Tried(state, self.decisions.cost(state)))
        self._consider(stage, self._find_tried(state))

    def try_all(self, stage: str, part: Allowance, states: Sequence[State]) -> list[Tried]:
        """Return the costs of `states`, in order, as far as the allowance goes."""
        queue = iter(states)
        return [tried for _, tried in self._in_order(stage, part, lambda: _pair(next(queue, None)))]

    def try_drawn(self, stage: str, part: Allowance, draw: Callable[[], State | None]) -> None:
        """Try the states that `draw` returns, until it returns None."""
        for _ in self._in_order(stage, part, lambda: _pair(draw())):
            pass

    def try_moves(
        self,
        stage: str,
        part: Allowance,
        moves: Sequence[Move],
        apply: Callable[[State, Move], State],
    ) -> None:
        """Apply one move after the other to the best state.

        If a move improved a state that is no longer the best, it is tried once more on the best.
        """
        waiting, again = deque(moves), set[Move]()
        applied: list[Move] = []
        """The moves that led to the best state."""

        def draw() -> tuple[tuple[Move, int, float], State] | None:
            while waiting:
                move = waiting.popleft()
                state = apply(self.best.actions, move)
                if state != self.best.actions:
                    return (move, len(applied), self.best.cost), state
            return None

        def repeat(lost_moves: Sequence[Move]) -> None:
            waiting.extendleft(move for move in reversed(lost_moves) if move not in again)
            again.update(lost_moves)

        before = self.best
        for (move, since, base), tried in self._in_order(stage, part, draw):
            if self.best != before:
                before, lost = self.best, applied[since:]
                applied[since:] = [move]
                repeat(lost)
            elif tried.cost < base and since < len(applied):
                repeat([move])

    def drop(self, stage: str, part: Allowance) -> None:
        """Try the best state without each decision, and drop those that gain nothing."""
        while not part.is_over:
            before = self.best
            candidates = iter(self.decisions.without(before.actions).items())
            results = dict(self._in_order(stage, part, lambda c=candidates: next(c, None)))
            gains = {name: tried.cost - before.cost for name, tried in results.items()}
            useless = sorted((gain, name) for name, gain in gains.items() if gain <= 0)
            if not useless:
                self.gains = {name: int(gain) for name, gain in gains.items() if gain < math.inf}
                return
            state = before.actions
            for _, name in useless:
                state = self.decisions.without(state).get(name, state)
            worst = results[useless[0][1]]
            self.best = min((*self.try_all(stage, part, [state]), worst), key=self.decisions.rank)

    def _in_order(
        self, stage: str, part: Allowance, draw: Callable[[], tuple[Token, State] | None]
    ) -> Iterator[tuple[Token, Tried]]:
        """Yield each drawn state with its cost, as the allowance permits; a few are in progress."""
        pending = deque[tuple[Token, State, Future[float] | None]]()
        while True:
            while len(pending) < _AHEAD and not (part.is_over and self.best.cost < math.inf):
                candidate = draw()
                if candidate is None:
                    break
                token, state = candidate
                is_new = self.journal.cost(state) is None and all(state != s for _, s, _ in pending)
                if is_new and not part.take([state]):
                    break
                pending.append((token, state, self._begin(state) if is_new else None))
            if not pending:
                return
            token, state, future = pending.popleft()
            if future is not None and not self._is_written(stage, part, state, future):
                for _, _, later in pending:
                    if later is not None:
                        later.cancel()
                return
            tried = self._find_tried(state)
            self._consider(stage, tried)
            self.decisions.forget([self.best.actions, *(state for _, state, _ in pending)])
            yield token, tried

    def _begin(self, state: State) -> Future[float]:
        return self._pool.submit(self.decisions.cost, state)

    def _is_written(self, stage: str, part: Allowance, state: State, future: Future[float]) -> bool:
        """Store the cost of `state`; return False if it was cancelled because the time is over."""
        if part.is_late and self.best.cost < math.inf:
            future.cancel()
        try:
            self.journal.add(stage, Tried(state, future.result()))
        except CancelledError:
            return False
        return True

    def _find_tried(self, state: State) -> Tried:
        cost = self.journal.cost(state)
        assert cost is not None
        return Tried(state, cost)

    def _consider(self, stage: str, tried: Tried) -> None:
        self.count += 1
        if not self.first and tried.cost < math.inf:
            self.first = int(tried.cost)
        if self.decisions.rank(tried) < self.decisions.rank(self.best):
            self.best = tried
        self.watch(stage, self.best)


def _pair(state: State | None) -> tuple[State, State] | None:
    return None if state is None else (state, state)
