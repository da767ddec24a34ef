# SPDX-License-Identifier: MIT
"""The search for the smallest binary, whatever compiles it.

It goes from stage to stage until its allowance is over. No stage knows how much that is: whoever
gives more gets the same tries, and others after them. A compiler says what there is to decide and
what a state of it costs; what was tried is in the journal, and never measured again.
A few states are always under way, so that no processor waits for the slowest of a batch. They
are judged in the order in which they began: the result does not depend on how many run at once.
"""

import math
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from compiler_gym.tools.tune.allowance import Allowance
from compiler_gym.tools.tune.journal import Journal, Tried

__all__ = ["Decisions", "SizeSearch", "State", "Work"]

State = tuple[str, ...]
"""Decisions, in an order of which equal states are equal."""
Work = Callable[["SizeSearch", str, Allowance], object]
"""What a stage does, given its name and the allowance."""
Move = TypeVar("Move", str, tuple[str, str])
Token = TypeVar("Token")
_AHEAD = 4
"""Number of states that are under way at a time, on however many processors."""


class Decisions(Protocol):
    """A compiler's part of a search."""

    def measuring(self) -> AbstractContextManager[object]:
        """Return what is open while costs are measured."""
        ...

    def stages(self) -> Iterable[tuple[str, Work]]:
        """Return the stages in their order, whatever the allowance is."""
        ...

    def cost(self, state: State) -> float:
        """Return the bytes that `state` leaves, infinite where it fails; threads ask at once."""
        ...

    def forget(self, keep: Collection[State]) -> None:
        """Delete what is kept of every state that is none of `keep`."""
        ...

    def without(self, state: State) -> Mapping[str, State]:
        """Return `state` without each of its decisions, by the name that a plan gives it."""
        ...

    def rank(self, tried: Tried) -> tuple[float, ...]:
        """Return a key by which the better of two is the smaller."""
        ...


@dataclass
class SizeSearch:
    """One search for one binary."""

    decisions: Decisions
    allowance: Allowance
    journal: Journal
    watch: Callable[[str, Tried], None] = field(default_factory=lambda: lambda stage, best: None)
    """Is told of each stage, and of the best so far."""
    jobs: int = 1
    best: Tried = field(default_factory=lambda: Tried((), math.inf))
    first: int = 0
    """The bytes that the search began with."""
    count: int = 0
    """Number of states that were measured."""
    gains: Mapping[str, int] = field(default_factory=dict[str, int])
    """By how many bytes the best grows without one of its decisions, as far as there was time."""

    def run(self) -> Tried:
        """Return the best state, and the bytes it leaves; stop when the allowance is over."""
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
        """Take a state that something else found and counted for the best if it is."""
        if self.journal.cost(state) is None:
            self.journal.add(stage, Tried(state, self.decisions.cost(state)))
        self._consider(stage, self._find_known(state))

    def try_all(self, stage: str, part: Allowance, states: Sequence[State]) -> list[Tried]:
        """Return what the states leave, in order, as far as the allowance goes."""
        left = iter(states)
        return [tried for _, tried in self._in_order(stage, part, lambda: _pair(next(left, None)))]

    def try_drawn(self, stage: str, part: Allowance, draw: Callable[[], State | None]) -> None:
        """Try what `draw` gives, each from the best of that time, until it gives None."""
        for _ in self._in_order(stage, part, lambda: _pair(draw())):
            pass

    def try_moves(
        self,
        stage: str,
        part: Allowance,
        moves: Sequence[Move],
        apply: Callable[[State, Move], State],
    ) -> None:
        """Make one move after the other from the best state.

        A move that helped a state which is no longer the best is tried again, once, from the best.
        """
        waiting, again = deque(moves), set[Move]()
        made: list[Move] = []
        """What led to the best state."""

        def draw() -> tuple[tuple[Move, int, float], State] | None:
            while waiting:
                move = waiting.popleft()
                state = apply(self.best.actions, move)
                if state != self.best.actions:
                    return (move, len(made), self.best.cost), state
            return None

        def repeat(others: Sequence[Move]) -> None:
            waiting.extendleft(move for move in reversed(others) if move not in again)
            again.update(others)

        before = self.best
        for (move, since, base), tried in self._in_order(stage, part, draw):
            if self.best != before:
                before, lost = self.best, made[since:]
                made[since:] = [move]
                repeat(lost)
            elif tried.cost < base and since < len(made):
                repeat([move])

    def drop(self, stage: str, part: Allowance) -> None:
        """Leave each decision out alone, and take back all that win nothing any more."""
        while not part.is_over:
            before = self.best
            left = iter(self.decisions.without(before.actions).items())
            found = dict(self._in_order(stage, part, lambda left=left: next(left, None)))
            gains = {name: tried.cost - before.cost for name, tried in found.items()}
            idle = sorted((gain, name) for name, gain in gains.items() if gain <= 0)
            if not idle:
                self.gains = {name: int(gain) for name, gain in gains.items() if gain < math.inf}
                return
            state = before.actions
            for _, name in idle:
                state = self.decisions.without(state).get(name, state)
            worst = found[idle[0][1]]
            self.best = min((*self.try_all(stage, part, [state]), worst), key=self.decisions.rank)

    def _in_order(
        self, stage: str, part: Allowance, draw: Callable[[], tuple[Token, State] | None]
    ) -> Iterator[tuple[Token, Tried]]:
        """Yield what is drawn with its cost, as far as the allowance goes, a few under way."""
        flying = deque[tuple[Token, State, Future[float] | None]]()
        while True:
            while len(flying) < _AHEAD and not (part.is_over and self.best.cost < math.inf):
                drawn = draw()
                if drawn is None:
                    break
                token, state = drawn
                is_new = self.journal.cost(state) is None and all(state != s for _, s, _ in flying)
                if is_new and not part.take([state]):
                    break
                flying.append((token, state, self._begin(state) if is_new else None))
            if not flying:
                return
            token, state, future = flying.popleft()
            if future is not None and not self._is_written(stage, part, state, future):
                for _, _, other in flying:
                    if other is not None:
                        other.cancel()
                return
            tried = self._find_known(state)
            self._consider(stage, tried)
            self.decisions.forget([self.best.actions, *(state for _, state, _ in flying)])
            yield token, tried

    def _begin(self, state: State) -> Future[float]:
        return self._pool.submit(self.decisions.cost, state)

    def _is_written(self, stage: str, part: Allowance, state: State, future: Future[float]) -> bool:
        """Write down what `state` costs; return False where the time ended before it began."""
        is_late = part.seconds_left <= 0 or part.is_stopped()
        if is_late and self.best.cost < math.inf:
            future.cancel()
        try:
            self.journal.add(stage, Tried(state, future.result()))
        except CancelledError:
            return False
        return True

    def _find_known(self, state: State) -> Tried:
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
