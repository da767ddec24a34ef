# SPDX-License-Identifier: MIT
"""What a search decides of LLVM: what makes one linked file smallest.

It starts from what is known, and goes in the order of what pays: how the file is laid out,
options of the code generator one after the other from the best so far, what can be left out; then
rounds of some passes, the options again and what can be left out, for as long as there is time.
Every number is of the linked and stripped file, as a plan makes it.
"""

import hashlib
import math
import shutil
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from compiler_gym.envs.llvm.actions import LINK_TIME
from compiler_gym.errors import CompilerGymError
from compiler_gym.registration import make
from compiler_gym.tools.tune import Allowance, BinaryPlan, Measure, SizeSearch, State, Tried, Work
from compiler_gym.tools.tune.llvm.deciding import (
    BASE,
    FLAG,
    LINKER,
    SAVINGS,
    SPACE,
    choices,
    make_plan,
    of_modules,
    order_actions,
    split,
    with_action,
    without,
    without_outliner,
)
from compiler_gym.tools.tune.llvm.linking import FOLDING, FRAMES
from compiler_gym.tools.tune.llvm.making import LlvmMaker

if TYPE_CHECKING:
    from compiler_gym.search import Improvement, SearchProgress

__all__ = ["SizeDecisions"]

_REWARD = "ObjectTextSizeBytes"
_STEP_SECONDS = 120.0
_SEQUENCES = 40
"""Steps of passes that are tried in a round."""
_ROUNDS = 100
"""A bound for programs so small that a round takes a second."""


@dataclass
class SizeDecisions:
    """What is decided of one binary."""

    maker: LlvmMaker
    """Makes the plan that every other one is a variant of."""
    measure: Measure
    layout: Sequence[str]
    """Actions that decide about the file and not about its code."""
    starts: Sequence[State]
    """What is known to be good, the best first."""
    refused: Collection[str]
    """Names of options that are never tried."""
    is_position_independent: bool
    jobs: int
    seed: int

    @contextmanager
    def measuring(self) -> Generator[None]:
        """Forget everything at the end."""
        try:
            yield
        finally:
            self.forget(())

    def stages(self) -> Iterable[tuple[str, Work]]:
        """Yield the stages; the options that won most elsewhere are first."""
        offered = list(choices(self.refused))
        known = [action for state in self.starts for action in state if action in offered]
        options = list(dict.fromkeys((*known, *offered)))
        moves = partial(SizeSearch.try_moves, apply=with_action)
        yield "start", partial(SizeSearch.try_all, states=self._starts())
        yield "layout", partial(moves, moves=self.layout)
        yield "options", partial(moves, moves=options)
        yield "dropping", SizeSearch.drop
        for number in range(_ROUNDS):
            yield "passes", partial(self._passes, seed=self.seed + number)
            yield "options again", partial(moves, moves=options)
            yield "dropping", SizeSearch.drop

    def cost(self, state: State) -> float:
        """Return the bytes that `state` leaves; one that fails leaves infinitely much."""
        name = f"try-{hashlib.sha256(repr(state).encode()).hexdigest()[:16]}"
        maker = self.maker.of(self.plan(state))
        try:
            return float(self.measure.of(maker.make(name)))
        except CompilerGymError:
            return math.inf
        finally:
            shutil.rmtree(maker.linker.folder / name, ignore_errors=True)

    def plan(self, state: State) -> BinaryPlan:
        """Return the plan of the binary with the decisions of `state`."""
        return make_plan(state, self.maker.plan)

    def forget(self, keep: Collection[State]) -> None:
        """Delete the objects of every state that is none of `keep`."""
        self.maker.forget([self.plan(state) for state in keep])

    def without(self, state: State) -> Mapping[str, State]:
        """Return `state` without each of its decisions."""
        return without(state)

    def rank(self, tried: Tried) -> tuple[float, int]:
        """Of equal sizes the fewest decisions are best: what does not help is not decided."""
        return tried.cost, len(tried.actions)

    def _starts(self) -> list[State]:
        folding = tuple(f"{LINKER}{word}" for word in FOLDING)
        levels = [(BASE,), tuple(flag.name for flag in LINK_TIME)]
        starts = [order_actions((*level, *folding)) for level in levels]
        # Large programs have time for few tries, and some files grow by what is outlined.
        for known in [order_actions((*state, *folding)) for state in reversed(self.starts)]:
            unframed = tuple(action for action in known if action != f"{FLAG}{FRAMES}")
            starts = [known, unframed, without_outliner(known), *starts]
        return list(dict.fromkeys(starts))

    def _make(self) -> Any:
        env = make("llvm-v0", action_space=SPACE, reward_space=_REWARD)
        env.reset(benchmark=self.maker.whole.benchmark())
        return env

    def _passes(self, search: SizeSearch, stage: str, part: Allowance, *, seed: int) -> None:
        from compiler_gym.search import Budget, run_search  # numpy: only a search needs it

        left = part.compilations_left
        steps = _SEQUENCES if left is None else min(left, _SEQUENCES)
        passes, options = split(search.best.actions)
        fixed = ["relocation-model=pic"] if self.is_position_independent else []
        chosen = (f"{name}={value}" for name, value in of_modules(options).items())
        names = [*passes, *chosen, *fixed]
        with self._make() as env:
            space = env.action_space
        budget = Budget(
            seconds=None if part.seconds is None else max(part.seconds_left, 0.1),
            steps=steps,
        )
        watcher = _Watcher(search, stage, part, space.names, self.refused)
        found = run_search(
            self._make,
            [self.maker.whole.benchmark()],
            budget=budget,
            jobs=self.jobs,
            seed=seed,
            starts=[[space[name] for name in names]],
            step_seconds=_STEP_SECONDS,
            watcher=watcher,
        )[0]
        part.take([()] * (found.steps - watcher.steps))
        if steps == _SEQUENCES:  # what a round ends with is no beginning of a longer one
            watcher.keep(found.action_names)


@dataclass
class _Watcher:
    """Writes down what a search of ours finds, so that an end at any time keeps it."""

    search: SizeSearch
    stage: str
    part: Allowance
    names: Sequence[str]
    refused: Collection[str]
    steps: int = 0
    """Those that are counted already."""

    def keep(self, names: Sequence[str]) -> None:
        """Measure what a search found by the code of its object as the file that it makes."""
        chosen = [name for name in names if name.partition("=")[0] not in self.refused]
        best = self.search.best.actions
        rest = [action for action in best if " " in action or action in SAVINGS]
        self.search.keep(self.stage, order_actions((*chosen, *rest)))

    def improved(self, improvement: "Improvement") -> None:
        """Keep a better sequence, as it is with what is not to be chosen."""
        self.keep([self.names[number] for number in improvement.actions])

    def tick(self, seconds: float, programs: "Sequence[SearchProgress]") -> None:
        """Show that it goes on; end it where somebody wants to stop."""
        steps = sum(program.steps for program in programs)
        self.part.take([()] * (steps - self.steps))
        self.steps = steps
        self.search.watch(self.stage, self.search.best)
        if self.part.is_stopped():
            raise KeyboardInterrupt
