# SPDX-License-Identifier: MIT
"""Look for the flags of GCC that make one linked binary smallest.

In the order of what pays: levels with and without link-time optimisation, then flags one at a
time from the best so far, then parameters, then combinations of what is known to help. Every
number is ``.text`` of the linked and stripped file.
"""

import math
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

from compiler_gym.builds import sizes_of
from compiler_gym.envs.gcc.tuning.flags import LEVELS, LINK_TIME, SECTIONS, option_of
from compiler_gym.envs.gcc.tuning.making import Maker
from compiler_gym.errors import ProjectError
from compiler_gym.tuning import Allowance, Journal, Tried

__all__ = ["LINKER", "SizeSearch", "ordered"]

LINKER = ("-Wl,--gc-sections",)
"""What GNU ld can leave out. It folds no functions: GCC does, before the link."""
_SHARES = {"levels": 0.08, "flags": 0.62, "parameters": 0.2, "combinations": 0.1}
_BATCH = 4
"""How many are tried from one state at a time, on however many processors."""
_MOST_DROPPED = 3
_MOST_KNOWN = 50
"""Batches in a row in which nothing is new: then everything was tried."""


@dataclass
class SizeSearch:
    """One search for one binary."""

    maker: Maker
    flags: Sequence[str]
    """Those worth a try, the most promising first."""
    parameters: Sequence[str]
    allowance: Allowance
    journal: Journal
    jobs: int
    seed: int
    watch: Callable[[str, Tried], None] = lambda stage, best: None
    best: Tried = field(default_factory=lambda: Tried((), math.inf))
    first: int = 0
    """The bytes that the level alone leaves, sections left out."""
    count: int = 0
    """How many states were measured."""
    refused: set[tuple[str, ...]] = field(default_factory=set[tuple[str, ...]])
    """Flags that GCC refused, or could not link with."""

    def run(self) -> Tried:
        """Return the best flags, and the bytes they leave; stop when the allowance is over."""
        for tried in self.journal.tried():
            self._consider("resumed", tried)
        work: dict[str, Callable[[str, Allowance], None]] = {
            "levels": self._levels,
            "flags": partial(self._moves, self.flags),
            "parameters": partial(self._moves, self.parameters),
            "combinations": self._combinations,
        }
        with ThreadPoolExecutor(self.jobs) as self._pool:
            for stage, part in self.allowance.stages(_SHARES):
                work[stage](stage, part)
                if self.allowance.is_over:
                    break
        return self.best

    def _levels(self, stage: str, part: Allowance) -> None:
        scopes = [(), LINK_TIME[:1], LINK_TIME]
        states = [ordered((*scope, *SECTIONS)) for scope in scopes]
        states += [
            ordered((level, *scope, *SECTIONS)) for level in LEVELS for scope in scopes[:0:-1]
        ]
        for tried in self._try_all(stage, states, part):
            if tried.actions == states[0] and tried.cost < math.inf:
                self.first = int(tried.cost)
            self._consider(stage, tried)

    def _moves(self, moves: Sequence[str], stage: str, part: Allowance) -> None:
        """Set one after the other; what also helped in a batch is tried again with its best."""
        waiting, again = list(moves), set[str]()
        while waiting and not part.is_over:
            batch, waiting = waiting[:_BATCH], waiting[_BATCH:]
            before, states = self.best, [with_flag(self.best.actions, flag) for flag in batch]
            won: list[tuple[float, str]] = []
            for flag, tried in zip(batch, self._try_all(stage, states, part), strict=False):
                if tried.cost < before.cost:
                    won.append((tried.cost, flag))
                self._consider(stage, tried)
            others = [flag for _, flag in sorted(won)[1:] if flag not in again]
            again.update(others)
            waiting = others + waiting

    def _combinations(self, stage: str, part: Allowance) -> None:
        """Leave some of what was chosen out, and put something else in, by the seed."""
        self._drop(stage, part)
        chance = random.Random(self.seed)
        moves, known = [*self.flags, *self.parameters], 0
        while moves and not part.is_over and known < _MOST_KNOWN:
            states = list(dict.fromkeys(self._mixed(chance, moves) for _ in range(_BATCH)))
            known = known + 1 if all(self.journal.cost(s) is not None for s in states) else 0
            for tried in self._try_all(stage, states, part):
                self._consider(stage, tried)

    def _drop(self, stage: str, part: Allowance) -> None:
        """Take back what does not help any more, now that the rest is chosen."""
        for flag in self.best.actions:
            without = tuple(other for other in self.best.actions if other != flag)
            for tried in self._try_all(stage, [without], part):
                self._consider(stage, tried)

    def _mixed(self, chance: random.Random, moves: Sequence[str]) -> tuple[str, ...]:
        fixed = {*LINK_TIME, *SECTIONS}
        chosen = [flag for flag in self.best.actions if flag not in fixed]
        count = min(len(chosen), chance.randint(0, _MOST_DROPPED))
        dropped = set(chance.sample(chosen, count))
        state = ordered([flag for flag in self.best.actions if flag not in dropped])
        for flag in chance.sample(list(moves), min(len(moves), chance.randint(1, _MOST_DROPPED))):
            state = with_flag(state, flag)
        return state

    def _consider(self, stage: str, tried: Tried) -> None:
        self.count += 1
        if math.isinf(tried.cost):
            self.refused.add(tried.actions)
        if _rank(tried) < _rank(self.best):
            self.best = tried
        self.watch(stage, self.best)

    def _try_all(
        self, stage: str, states: Sequence[tuple[str, ...]], part: Allowance
    ) -> Iterator[Tried]:
        """Yield what each state leaves, in order; those that fail leave infinitely much."""
        for at in range(0, len(states), _BATCH):
            if part.is_over and self.best.cost < math.inf:
                return
            batch = states[at : at + _BATCH]
            new = part.take([s for s in batch if self.journal.cost(s) is None])
            for state, cost in zip(new, self._pool.map(self._cost, new), strict=True):
                self.journal.add(stage, Tried(state, cost))
            self.maker.forget([self.best.actions])
            for state in batch:
                cost = self.journal.cost(state)
                if cost is None:
                    return
                yield Tried(state, cost)

    def _cost(self, state: tuple[str, ...]) -> float:
        name = f"try-{self.maker.key((*state, 'linked'))}-{'+'.join(state[-1:])[-20:]}"
        name = "".join(letter if letter.isalnum() else "-" for letter in name)
        try:
            return float(sizes_of(self.maker.make(name, state, LINKER)).text)
        except ProjectError:
            return math.inf
        finally:
            shutil.rmtree(self.maker.folder / name, ignore_errors=True)


def _rank(tried: Tried) -> tuple[float, int]:
    """Of equal sizes the shorter list is better: what does not help is not decided."""
    return tried.cost, len(tried.actions)


def with_flag(state: Sequence[str], flag: str) -> tuple[str, ...]:
    """Return `state` with `flag` in the place of what sets the same option."""
    kept = [other for other in state if option_of(other) != option_of(flag)]
    return ordered((*kept, flag))


def ordered(flags: Sequence[str]) -> tuple[str, ...]:
    """Return the flags, each once, in an order of which equal states are equal.

    >>> ordered(["-fno-gcse", "-flto", "-O2"])
    ('-O2', '-flto', '-fno-gcse')
    """
    return tuple(sorted(set(flags), key=lambda flag: (not flag.startswith("-O"), flag)))
