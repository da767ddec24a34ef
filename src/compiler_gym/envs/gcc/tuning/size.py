# SPDX-License-Identifier: MIT
"""What a search decides of GCC: the flags that make one linked binary smallest.

In the order of what pays: levels with and without link-time optimisation, then flags one at a
time from the best so far, then parameters, then combinations of what is known to help. Every
number is of the linked and stripped file.
"""

import math
import random
import shutil
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from compiler_gym.envs.gcc.tuning.flags import LEVELS, LINK_TIME, SECTIONS, option_of
from compiler_gym.envs.gcc.tuning.making import Maker
from compiler_gym.errors import ProjectError
from compiler_gym.tuning import Allowance, Measure, SizeSearch, State, Tried, Work

__all__ = ["LINKER", "Flags", "ordered"]

LINKER = ("-Wl,--gc-sections",)
"""What GNU ld can leave out. It folds no functions: GCC does, before the link."""
_MIXED = 4
"""How many combinations are tried at a time, on however many processors."""
_MOST_DROPPED = 3
_MOST_KNOWN = 50
"""Batches in a row in which nothing is new: then everything was tried."""


@dataclass
class Flags:
    """What is decided of one binary."""

    maker: Maker
    flags: Sequence[str]
    """Those worth a try, the most promising first."""
    parameters: Sequence[str]
    measure: Measure
    jobs: int
    seed: int

    @contextmanager
    def measuring(self) -> Generator[None]:
        """Keep the threads that compile."""
        with ThreadPoolExecutor(self.jobs) as self._pool:
            yield

    def stages(self) -> Mapping[str, tuple[float, Work]]:
        """Return the stages and their shares."""
        moves = partial(SizeSearch.try_moves, apply=with_flag)
        return {
            "levels": (0.08, partial(SizeSearch.try_all, states=_levels())),
            "flags": (0.62, partial(moves, moves=self.flags)),
            "parameters": (0.2, partial(moves, moves=self.parameters)),
            "combinations": (0.1, self._combinations),
        }

    def costs(self, states: Sequence[State], best: State) -> list[float]:
        """Return the bytes that each state leaves; those that fail leave infinitely much."""
        costs = list(self._pool.map(self._cost, states))
        self.maker.forget([best])
        return costs

    def is_first(self, state: State) -> bool:
        """Return whether it is the level alone, with sections left out."""
        return state == ordered(SECTIONS)

    def rank(self, tried: Tried) -> tuple[float, int]:
        """Of equal sizes the shorter list is better: what does not help is not decided."""
        return tried.cost, len(tried.actions)

    def _combinations(self, search: SizeSearch, stage: str, part: Allowance) -> None:
        """Leave some of what was chosen out, and put something else in, by the seed."""
        search.drop(stage, part)
        chance = random.Random(self.seed)
        moves, known = [*self.flags, *self.parameters], 0
        while moves and not part.is_over and known < _MOST_KNOWN:
            best = search.best.actions
            states = list(dict.fromkeys(_mixed(best, chance, moves) for _ in range(_MIXED)))
            known = known + 1 if all(search.journal.cost(s) is not None for s in states) else 0
            search.try_all(stage, part, states)

    def _cost(self, state: State) -> float:
        name = f"try-{self.maker.key((*state, 'linked'))}-{'+'.join(state[-1:])[-20:]}"
        name = "".join(letter if letter.isalnum() else "-" for letter in name)
        try:
            return float(self.measure.of(self.maker.make(name, state, LINKER)))
        except ProjectError:
            return math.inf
        finally:
            shutil.rmtree(self.maker.folder / name, ignore_errors=True)


def _levels() -> list[State]:
    scopes = [(), LINK_TIME[:1], LINK_TIME]
    states = [ordered((*scope, *SECTIONS)) for scope in scopes]
    return states + [
        ordered((level, *scope, *SECTIONS)) for level in LEVELS for scope in scopes[:0:-1]
    ]


def _mixed(best: State, chance: random.Random, moves: Sequence[str]) -> State:
    fixed = {*LINK_TIME, *SECTIONS}
    chosen = [flag for flag in best if flag not in fixed]
    count = min(len(chosen), chance.randint(0, _MOST_DROPPED))
    dropped = set(chance.sample(chosen, count))
    state = ordered([flag for flag in best if flag not in dropped])
    for flag in chance.sample(list(moves), min(len(moves), chance.randint(1, _MOST_DROPPED))):
        state = with_flag(state, flag)
    return state


def with_flag(state: Sequence[str], flag: str) -> State:
    """Return `state` with `flag` in the place of what sets the same option."""
    kept = [other for other in state if option_of(other) != option_of(flag)]
    return ordered((*kept, flag))


def ordered(flags: Sequence[str]) -> State:
    """Return the flags, each once, in an order of which equal states are equal.

    >>> ordered(["-fno-gcse", "-flto", "-O2"])
    ('-O2', '-flto', '-fno-gcse')
    """
    return tuple(sorted(set(flags), key=lambda flag: (not flag.startswith("-O"), flag)))
