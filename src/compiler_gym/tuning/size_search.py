# SPDX-License-Identifier: MIT
"""The search for the smallest binary, whatever compiles it.

It goes from stage to stage with a part of the allowance each. A compiler says what there is to
decide and what a state of it costs; what was tried is in the journal, and never measured again.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from compiler_gym.tuning.allowance import Allowance
from compiler_gym.tuning.journal import Journal, Tried

__all__ = ["Decisions", "SizeSearch", "State", "Work"]

State = tuple[str, ...]
"""Decisions, in an order of which equal states are equal."""
Work = Callable[["SizeSearch", str, Allowance], object]
"""What a stage does, given its name and its part of the allowance."""
Move = TypeVar("Move", str, tuple[str, str])
_BATCH = 4
"""How many are tried from one state at a time, on however many cores."""


class Decisions(Protocol):
    """A compiler's part of a search."""

    def measuring(self) -> AbstractContextManager[object]:
        """Return what is open while costs are measured."""
        ...

    def stages(self) -> Mapping[str, tuple[float, Work]]:
        """Return every stage: the share that it may use, what one leaves is the next one's."""
        ...

    def costs(self, states: Sequence[State], best: State) -> Sequence[float]:
        """Return the bytes that each state leaves, infinite where it fails; `best` is kept."""
        ...

    def is_first(self, state: State) -> bool:
        """Return whether `state` is what the search begins with."""
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
    best: Tried = field(default_factory=lambda: Tried((), math.inf))
    first: int = 0
    """The bytes that the search began with."""
    count: int = 0
    """How many states were measured."""

    def run(self) -> Tried:
        """Return the best state, and the bytes it leaves; stop when the allowance is over."""
        for tried in self.journal.tried():
            self._consider("resumed", tried)
        with self.decisions.measuring():
            stages = self.decisions.stages()
            shares = {name: share for name, (share, _) in stages.items()}
            for stage, part in self.allowance.stages(shares):
                stages[stage][1](self, stage, part)
                if self.allowance.is_over:
                    break
        return self.best

    def keep(self, stage: str, state: State) -> None:
        """Take a state that something else found and counted for the best if it is."""
        if self.journal.cost(state) is None:
            self._measure(stage, [state])
        self._known(stage, [state])

    def try_all(self, stage: str, part: Allowance, states: Sequence[State]) -> list[Tried]:
        """Return what the states leave, in order, as far as the allowance goes."""
        found: list[Tried] = []
        for at in range(0, len(states), _BATCH):
            if part.is_over and self.best.cost < math.inf:
                break
            batch = states[at : at + _BATCH]
            self._measure(stage, part.take([s for s in batch if self.journal.cost(s) is None]))
            found += self._known(stage, batch)
            if len(found) < at + len(batch):
                break
        return found

    def try_moves(
        self,
        stage: str,
        part: Allowance,
        moves: Sequence[Move],
        apply: Callable[[State, Move], State],
    ) -> None:
        """Make one move after the other from the best state.

        What else helped is tried again, once, together with the best of its batch.
        """
        waiting, again = list(moves), set[Move]()
        while waiting and not part.is_over:
            batch, waiting = waiting[:_BATCH], waiting[_BATCH:]
            before = self.best
            tried = self.try_all(stage, part, [apply(before.actions, move) for move in batch])
            won = sorted(
                (one.cost, move)
                for move, one in zip(batch, tried, strict=False)
                if one.cost < before.cost
            )
            others = [move for _, move in won[1:] if move not in again]
            again.update(others)
            waiting = others + waiting

    def drop(
        self, stage: str, part: Allowance, may_drop: Callable[[str], bool] = lambda name: True
    ) -> None:
        """Take back each decision that wins nothing any more, now that the rest is made."""
        for name in filter(may_drop, self.best.actions):
            without = tuple(other for other in self.best.actions if other != name)
            for tried in self.try_all(stage, part, [without]):
                if tried.cost <= self.best.cost:
                    self.best = tried

    def _measure(self, stage: str, states: Sequence[State]) -> None:
        costs = self.decisions.costs(states, self.best.actions)
        for state, cost in zip(states, costs, strict=True):
            self.journal.add(stage, Tried(state, cost))

    def _known(self, stage: str, states: Sequence[State]) -> list[Tried]:
        """Consider the states as far as their costs are known, and return them."""
        found: list[Tried] = []
        for state in states:
            cost = self.journal.cost(state)
            if cost is None:
                break
            found.append(Tried(state, cost))
            self._consider(stage, found[-1])
        return found

    def _consider(self, stage: str, tried: Tried) -> None:
        self.count += 1
        if not self.first and tried.cost < math.inf and self.decisions.is_first(tried.actions):
            self.first = int(tried.cost)
        if self.decisions.rank(tried) < self.decisions.rank(self.best):
            self.best = tried
        self.watch(stage, self.best)
