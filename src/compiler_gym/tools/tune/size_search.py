# SPDX-License-Identifier: MIT
"""The search for the smallest binary, with any compiler.

It runs one stage after the other until its allowance is used up. No stage depends on the size of
the allowance, so a longer search tries the same states and then more. The compiler's part defines
the decisions and measures states; measured states are in the journal and never measured again.
A few states are always in progress, so that no processor waits for the slowest of a batch. They
are judged in the order in which they began, so the result does not depend on the number of jobs.
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
        is_late = part.seconds_left <= 0 or part.is_stopped()
        if is_late and self.best.cost < math.inf:
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
