# SPDX-License-Identifier: MIT
"""Search for the LLVM decisions that make one linked file smallest.

The search starts from known plans, which need no search, and never returns a worse one. It tries
the most rewarding decisions first: the file layout, then one code generator option at a time on top
of the best plan so far, then removing decisions that do not help. After that it alternates between
passes, options and removals until time runs out. Every cost is the size of the linked and stripped
file that a plan produces.
"""

import contextlib
import hashlib
import math
import shutil
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

from compiler_gym.envs.llvm.actions import LINK_TIME
from compiler_gym.errors import CompilerGymError
from compiler_gym.registration import make
from compiler_gym.tools.tune import (
    Allowance,
    BinaryPlan,
    Goal,
    Kind,
    Measure,
    SizeSearch,
    SourceFile,
    State,
    Tried,
    Work,
    list_shipped_recipes,
)
from compiler_gym.tools.tune.llvm.deciding import (
    BASE,
    FLAG,
    LINKER,
    PLUG_IN,
    POLICY,
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
from compiler_gym.tools.tune.llvm.flags import FOLDING, FRAMED, PACKED, POLICY_PASSES, SMALL
from compiler_gym.tools.tune.llvm.plugin import PLUGIN, explain_problem
from compiler_gym.tools.tune.llvm.program import LlvmMaker

if TYPE_CHECKING:
    from compiler_gym.search import Improvement, SearchProgress

_REWARD = "ObjectTextSizeBytes"
_STEP_SECONDS = 120.0
_SEQUENCES = 40
"""Pass sequences to try in each round."""
_ROUNDS = 100
"""Limit for programs so small that a round takes only a second."""


def list_known_plans(
    name: str, sources: tuple[SourceFile, ...], words: Collection[str], *, compiler: str
) -> list[BinaryPlan]:
    """Return all known plans for the file `name`; `words` lists the layout flags it may use.

    The first is the fair rival; if relocations may be packed, the second is the same with packed
    relocations. Then come the exact plans of policies, and those that `is_dispensable`. Policies
    and recipes for another machine or `compiler` are skipped.
    """
    plans: list[BinaryPlan] = []
    packings = ((), (PACKED,)) if PACKED in words else ((),)
    for plan in _list_shipped(compiler):
        # The fair rival, which has no passes, is built without the plug-in.
        kinds = [(tuple[str, ...](), tuple[str, ...]())]
        if plan.passes:
            kinds.append((FRAMED, () if explain_problem() else (PLUGIN,)))
        if plan.passes == POLICY_PASSES:
            kinds = kinds[:1] if explain_problem() else kinds[1:]
        for (flags, plugin), packing in product(kinds, packings):
            linker = (*(word for word in plan.linker if word != PACKED), *packing)
            variant = replace(plan, name=name, sources=sources, flags=flags, plugin=plugin)
            if (variant := replace(variant, linker=linker)) not in plans:
                plans.append(variant)
    return sorted(plans, key=is_dispensable)


def is_dispensable(plan: BinaryPlan) -> bool:
    """Return whether a known plan is neither the fair rival nor that of a policy."""
    return plan.passes not in ("", POLICY_PASSES)


def _list_shipped(compiler: str) -> Iterator[BinaryPlan]:
    yield BinaryPlan("program", SMALL, linker=FOLDING)
    for kind in Kind:
        for recipe in list_shipped_recipes(kind):
            if recipe.fits(Goal.SIZE, compiler):
                yield recipe.plan
                if kind is Kind.POLICY:
                    yield replace(recipe.plan, passes=POLICY_PASSES)


@dataclass
class SizeDecisions:
    """The decisions to search for one binary, and their costs."""

    maker: LlvmMaker
    """Builds the base plan; all other plans are variants."""
    measure: Measure
    layout: Sequence[str]
    """Actions that change the file layout but not the code."""
    starts: Sequence[State]
    """Good states to start from, the best first."""
    refused: Collection[str]
    """Names of options that must never be tried."""
    is_position_independent: bool
    jobs: int
    seed: int

    @contextmanager
    def measuring(self) -> Generator[None]:
        """Delete all intermediate files at the end."""
        try:
            yield
        finally:
            self.forget(())

    def stages(self) -> Iterable[tuple[str, Work]]:
        """Yield the stages; options that saved most on other programs come first."""
        offered = list(choices(self.refused))
        starting = [action for state in self.starts for action in state if action in offered]
        options = list(dict.fromkeys((*starting, *offered)))
        moves = partial(SizeSearch.try_moves, apply=with_action)
        yield "start", partial(SizeSearch.try_all, states=self._starts())
        yield "layout", partial(moves, moves=self.layout)
        yield "options", partial(moves, moves=options)
        yield "rules", self._try_rules
        yield "dropping", SizeSearch.drop
        for number in range(_ROUNDS):
            yield "passes", partial(self._passes, seed=self.seed + number)
            yield "options again", partial(moves, moves=options)
            yield "dropping", SizeSearch.drop

    def cost(self, state: State) -> float:
        """Return the size in bytes with `state`, or infinity if the build fails."""
        name = f"try-{hashlib.sha256(repr(state).encode()).hexdigest()[:16]}"
        maker = self.maker.of(self.plan(state))
        try:
            return float(self.measure.of(maker.make(name)))
        except CompilerGymError:
            return math.inf
        finally:
            shutil.rmtree(maker.linker.folder / name, ignore_errors=True)

    def plan(self, state: State) -> BinaryPlan:
        """Return the plan for the binary with the decisions of `state`."""
        return make_plan(state, self.maker.plan)

    def forget(self, keep: Collection[State]) -> None:
        """Delete the objects of all states except those in `keep`."""
        self.maker.forget([self.plan(state) for state in keep])

    def without(self, state: State) -> Mapping[str, State]:
        """Return variants of `state`, each with one decision removed."""
        return without(state)

    def rank(self, tried: Tried) -> tuple[float, int]:
        """Rank by size, then by the number of decisions, so that useless ones are dropped."""
        return tried.cost, len(tried.actions)

    def _starts(self) -> list[State]:
        folding = tuple(f"{LINKER}{flag}" for flag in FOLDING)
        levels = [(BASE,), tuple(flag.name for flag in LINK_TIME)]
        starts = [order_actions((*level, *folding)) for level in levels]
        # Large programs leave time for only a few tries, and outlining makes some files grow.
        for start in [order_actions((*state, *folding)) for state in reversed(self.starts)]:
            frames = {f"{FLAG}{flag}" for flag in FRAMED}
            unframed = tuple(action for action in start if action not in frames)
            starts = [start, unframed, without_outliner(start), *starts]
        return list(dict.fromkeys(starts))

    def _try_rules(self, search: SizeSearch, stage: str, part: Allowance) -> None:
        """Turn off each rule of the plug-in that changes the code of the best plan."""
        with contextlib.suppress(CompilerGymError):
            rules = self.maker.of(self.plan(search.best.actions)).list_rules()
            moves = [f"{PLUG_IN}-{rule}" for rule in rules]
            search.try_moves(stage, part, moves=moves, apply=with_action)

    def _make(self) -> Any:
        env = make("llvm-v0", action_space=SPACE, reward_space=_REWARD)
        env.reset(benchmark=self.maker.whole.benchmark())
        return env

    def _passes(self, search: SizeSearch, stage: str, part: Allowance, *, seed: int) -> None:
        from compiler_gym.search import Budget, run_search  # numpy: only a search needs it

        compilations_left = part.compilations_left
        steps = _SEQUENCES if compilations_left is None else min(compilations_left, _SEQUENCES)
        passes, options = split(search.best.actions)
        fixed = ["relocation-model=pic"] if self.is_position_independent else []
        settings = (f"{name}={value}" for name, value in of_modules(options).items())
        names = [*(BASE if name == POLICY else name for name in passes), *settings, *fixed]
        with self._make() as env:
            space = env.action_space
        budget = Budget(
            seconds=None if part.seconds is None else max(part.seconds_left, 0.1),
            steps=steps,
        )
        watcher = _Watcher(search, stage, part, space.names, self.refused)
        result = run_search(
            self._make,
            [self.maker.whole.benchmark()],
            budget=budget,
            jobs=self.jobs,
            seed=seed,
            starts=[[space[name] for name in names]],
            step_seconds=_STEP_SECONDS,
            watcher=watcher,
        )[0]
        part.take([()] * (result.steps - watcher.steps))
        if steps == _SEQUENCES:  # a longer search must repeat this one, so skip a cut-off round
            watcher.keep(result.action_names)


@dataclass
class _Watcher:
    """Records each improvement immediately, so that stopping at any time keeps it."""

    search: SizeSearch
    stage: str
    part: Allowance
    names: Sequence[str]
    refused: Collection[str]
    steps: int = 0
    """Number of steps already counted."""

    def keep(self, names: Sequence[str]) -> None:
        """Link the sequence `names`, which the search judged by code size, and record its cost."""
        allowed = [name for name in names if name.partition("=")[0] not in self.refused]
        best = self.search.best.actions
        fixed = [action for action in best if " " in action or action in SAVINGS]
        self.search.keep(self.stage, order_actions((*allowed, *fixed)))

    def improved(self, improvement: "Improvement") -> None:
        """Record an improved sequence, keeping the decisions that the search does not make."""
        self.keep([self.names[number] for number in improvement.actions])

    def tick(self, seconds: float, programs: "Sequence[SearchProgress]") -> None:
        """Report progress, and end the search if the user wants to stop."""
        steps = sum(program.steps for program in programs)
        self.part.take([()] * (steps - self.steps))
        self.steps = steps
        self.search.watch(self.stage, self.search.best)
        if self.part.is_stopped():
            raise KeyboardInterrupt
