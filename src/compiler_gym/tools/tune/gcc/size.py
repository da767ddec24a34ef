# SPDX-License-Identifier: MIT
"""What a search decides of GCC: the flags that make one linked binary smallest.

In the order of what pays: levels with and without link-time optimisation, then flags one at a
time from the best so far, then parameters, then combinations of what is known to help, for as
long as there is time. Every number is of the linked and stripped file.
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
"""What GNU ld can leave out. It folds no functions: GCC does, before the link."""
_LINKER_WORD = "-Wl,"
_MOST_DROPPED = 3
_MOST_KNOWN = 200
"""Combinations in a row that are not new: then everything was tried."""
_COMBINATIONS = 40
"""Those that are tried before what wins nothing any more is dropped again."""
_ROUNDS = 100


@dataclass
class Flags:
    """What is decided of one binary."""

    maker: GccMaker
    flags: Sequence[str]
    """Those worth a try, the most promising first."""
    parameters: Sequence[str]
    measure: Measure
    layout: Sequence[str]
    """What the linker can be told of the file."""
    seed: int
    start: State | None = None
    """What is known to be good, for example of an older version."""

    def measuring(self) -> AbstractContextManager[object]:
        """Return nothing: compilers are started one by one."""
        return nullcontext()

    def stages(self) -> Iterable[tuple[str, Work]]:
        """Yield the stages; combinations are tried until the end, and some dropped in between."""
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
        """Delete the objects of every state that is none of `keep`, but for the plain ones."""
        self.maker.forget([(BASE,), *((BASE, *split_flags(state)[0]) for state in keep)])

    def without(self, state: State) -> Mapping[str, State]:
        """Return `state` without each of its flags."""
        return {
            f"{'linker' if word.startswith(_LINKER_WORD) else 'flag'} {word}": tuple(
                other for other in state if other != word
            )
            for word in state
        }

    def rank(self, tried: Tried) -> tuple[float, int]:
        """Of equal sizes the shorter list is better: what does not help is not decided."""
        return tried.cost, len(tried.actions)

    def cost(self, state: State) -> float:
        """Return the bytes that `state` leaves; one that fails leaves infinitely much."""
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
        """Leave some of what was chosen out, and put something else in, by `chance`."""
        moves = [*self.flags, *self.parameters]
        left = iter(range(_COMBINATIONS))

        def draw() -> State | None:
            for _ in range(_MOST_KNOWN if moves and next(left, None) is not None else 0):
                state = _mix(search.best.actions, chance, moves)
                if search.journal.cost(state) is None:
                    return state
            return None

        search.try_drawn(stage, part, draw)


def split_flags(state: State) -> tuple[State, tuple[str, ...]]:
    """Return what the compiler is told, and what the linker."""
    words = tuple(word for word in state if word.startswith(_LINKER_WORD))
    return tuple(word for word in state if word not in words), (*LINKER, *words)


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
    """Return `state` with `flag` in the place of what sets the same option."""
    kept = [other for other in state if find_option(other) != find_option(flag)]
    return order_flags((*kept, flag))


def order_flags(flags: Sequence[str]) -> State:
    """Return the flags, each once, in an order of which equal states are equal.

    >>> ordered(["-fno-gcse", "-flto", "-O2"])
    ('-O2', '-flto', '-fno-gcse')
    """
    return tuple(sorted(set(flags), key=lambda flag: (not flag.startswith("-O"), flag)))
