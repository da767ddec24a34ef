# SPDX-License-Identifier: MIT
"""Search for the GCC flags that make one linked binary smallest.

The search tries the most rewarding decisions first: levels with and without link-time
optimisation, then one flag at a time on top of the best plan so far, then parameters, then random
combinations until time runs out. Every cost is the size of the linked and stripped file.
"""

import math
import random
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial

from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune import Allowance, Measure, SizeSearch, State, Tried, Work
from compiler_gym.tools.tune.gcc.flags import LEVELS, LINK_TIME, SECTIONS, find_option
from compiler_gym.tools.tune.gcc.making import BASE, GccMaker

__all__ = ["LINKER", "Flags", "order_flags", "split_flags"]

LINKER = ("-Wl,--gc-sections",)
"""Linker flags: GNU ld discards unused sections. GCC folds functions, before the link."""
_LINKER_WORD = "-Wl,"
_MOST_DROPPED = 3
_MOST_KNOWN = 200
"""Number of known combinations in a row after which everything counts as tried."""
_COMBINATIONS = 40
"""Combinations to try before useless flags are dropped again."""
_ROUNDS = 100


@dataclass
class Flags:
    """The flags to search for one binary, and their costs."""

    maker: GccMaker
    flags: Sequence[str]
    """Flags worth trying, the most promising first."""
    parameters: Sequence[str]
    measure: Measure
    layout: Sequence[str]
    """Flags that change the layout of the file."""
    seed: int
    start: State | None = None
    """A good state to start from, for example from an older version."""

    def measuring(self) -> AbstractContextManager[object]:
        """Return an empty context: there is nothing to clean up."""
        return nullcontext()

    def stages(self) -> Iterable[tuple[str, Work]]:
        """Yield the stages; combinations alternate with dropping useless flags until the end."""
        moves = partial(SizeSearch.try_moves, apply=with_flag)
        yield "levels", partial(SizeSearch.try_all, states=self._starts())
        yield "layout", partial(moves, moves=self.layout)
        yield "flags", partial(moves, moves=self.flags)
        yield "parameters", partial(moves, moves=self.parameters)
        yield "dropping", SizeSearch.drop
        chance = random.Random(self.seed)
        for _ in range(_ROUNDS):
            yield "combinations", partial(self._combinations, chance=chance)
            yield "dropping", SizeSearch.drop

    def forget(self, keep: Collection[State]) -> None:
        """Delete the objects of all states except those in `keep` and the base level."""
        self.maker.forget([(BASE,), *((BASE, *split_flags(state)[0]) for state in keep)])

    def without(self, state: State) -> Mapping[str, State]:
        """Return variants of `state`, each with one flag removed."""
        return {
            f"{'linker' if word.startswith(_LINKER_WORD) else 'flag'} {word}": tuple(
                other for other in state if other != word
            )
            for word in state
        }

    def rank(self, tried: Tried) -> tuple[float, int]:
        """Rank by size, then by the number of flags, so that useless ones are dropped."""
        return tried.cost, len(tried.actions)

    def cost(self, state: State) -> float:
        """Return the size in bytes with `state`, or infinity if the build fails."""
        name = f"try-{self.maker.key((*state, 'linked'))}-{'+'.join(state[-1:])[-20:]}"
        name = "".join(letter if letter.isalnum() else "-" for letter in name)
        try:
            flags, linker = split_flags(state)
            return float(self.measure.of(self.maker.make(name, (BASE, *flags), linker)))
        except ProjectError:
            return math.inf
        finally:
            shutil.rmtree(self.maker.folder / name, ignore_errors=True)

    def _starts(self) -> list[State]:
        return _levels() if self.start is None else [self.start, *_levels()]

    def _combinations(
        self, search: SizeSearch, stage: str, part: Allowance, *, chance: random.Random
    ) -> None:
        """Try combinations that replace some of the chosen flags at random."""
        moves = [*self.flags, *self.parameters]
        attempts = iter(range(_COMBINATIONS))

        def draw() -> State | None:
            for _ in range(_MOST_KNOWN if moves and next(attempts, None) is not None else 0):
                state = _mix(search.best.actions, chance, moves)
                if search.journal.cost(state) is None:
                    return state
            return None

        search.try_drawn(stage, part, draw)


def split_flags(state: State) -> tuple[State, tuple[str, ...]]:
    """Return the compiler flags and the linker flags of `state`."""
    linker = tuple(flag for flag in state if flag.startswith(_LINKER_WORD))
    return tuple(flag for flag in state if flag not in linker), (*LINKER, *linker)


def _levels() -> list[State]:
    scopes = [(), LINK_TIME[:1], LINK_TIME]
    states = [order_flags((*scope, *SECTIONS)) for scope in scopes]
    return states + [
        order_flags((level, *scope, *SECTIONS)) for level in LEVELS for scope in scopes[:0:-1]
    ]


def _mix(best: State, chance: random.Random, moves: Sequence[str]) -> State:
    fixed = {*LINK_TIME, *SECTIONS}
    chosen = [f for f in best if f not in fixed and not f.startswith(_LINKER_WORD)]
    count = min(len(chosen), chance.randint(0, _MOST_DROPPED))
    dropped = set(chance.sample(chosen, count))
    state = order_flags([flag for flag in best if flag not in dropped])
    for flag in chance.sample(list(moves), min(len(moves), chance.randint(1, _MOST_DROPPED))):
        state = with_flag(state, flag)
    return state


def with_flag(state: Sequence[str], flag: str) -> State:
    """Return `state` with `flag`, replacing any flag that sets the same option."""
    others = [other for other in state if find_option(other) != find_option(flag)]
    return order_flags((*others, flag))


def order_flags(flags: Sequence[str]) -> State:
    """Return the flags without duplicates in a canonical order, so equal states compare equal.

    >>> order_flags(["-fno-gcse", "-flto", "-O2"])
    ('-O2', '-flto', '-fno-gcse')
    """
    return tuple(sorted(set(flags), key=lambda flag: (not flag.startswith("-O"), flag)))
