# SPDX-License-Identifier: MIT
"""Look for the passes and code-generator options that make one module smallest.

In the order of what pays: known sequences of passes, then options of the code generator one
after the other from the best so far, then a search over both, then the options again, and last
what can be left out. Every number is the machine code of the whole module as the engine makes it.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any

from compiler_gym.datasets import Benchmark
from compiler_gym.envs.llvm.actions import LINK_TIME
from compiler_gym.envs.llvm.actions.codegen_options import DEFAULT, OPTIONS
from compiler_gym.errors import CompilerGymError
from compiler_gym.registration import make
from compiler_gym.search import Budget, Improvement, Progress, known_sequences, run_search
from compiler_gym.tuning import Allowance, Journal, Tried

__all__ = ["SPACE", "SizeSearch"]

SPACE = "PassesAndCodegen"
"""The actions that are tried."""
_SIZE = "ObjectTextSizeBytes"
_REWARD = "ObjectTextSizeBytes"
_SHARES = {
    "known sequences": 0.12, "options": 0.36, "passes": 0.34, "options again": 0.13,
    "dropping": 0.05,
}  # fmt: skip
"""What part of the allowance each stage may use; what one leaves is the next one's."""
_BATCH = 4
"""How many options are tried from one state at a time, on however many cores."""
_FIXED = "relocation-model"
_STEP_SECONDS = 120.0
_LEVELS = (("-Oz",), tuple(flag.name for flag in LINK_TIME), ("-Os",))


@dataclass
class SizeSearch:
    """One search for one module."""

    benchmark: Benchmark
    is_position_independent: bool
    allowance: Allowance
    journal: Journal
    jobs: int
    seed: int
    watch: Callable[[str, Tried], None] = lambda stage, best: None
    best: Tried = field(default_factory=lambda: Tried((), math.inf))
    first: int = 0
    """The bytes that -Oz leaves."""
    count: int = 0
    """How many states were measured."""

    def run(self) -> Tried:
        """Return the best actions by name, and the bytes they leave; stop when the time is up."""
        for tried in self.journal.tried():
            self.consider("resumed", tried)
        with ExitStack() as stack:
            self._benches = [_Bench(stack.enter_context(self._make())) for _ in range(self.jobs)]
            with ThreadPoolExecutor(self.jobs) as self._pool:
                for stage, part in self.allowance.stages(_SHARES):
                    work = {
                        "known sequences": self._known,
                        "passes": self._passes,
                        "dropping": self._drop,
                    }
                    work.get(stage, self._options)(stage, part)
                    if self.allowance.is_over:
                        break
        return self.best

    def _make(self) -> Any:
        env = make("llvm-v0", action_space=SPACE, reward_space=_REWARD)
        env.reset(benchmark=self.benchmark)
        return env

    def keep(self, stage: str, names: Sequence[str]) -> None:
        """Take actions that a search found, measured with the machine code that is linked.

        A search may choose code that is no longer position-independent, because it is smaller.
        """
        chosen = [name for name in names if not name.startswith(f"{_FIXED}=")]
        actions = _ordered((*chosen, *self._fixed()))
        cost = self.journal.cost(actions)
        if cost is None:
            cost = self._benches[0].cost(actions)
            self.journal.add(stage, Tried(actions, cost))
        self.consider(stage, Tried(actions, cost))

    def _fixed(self) -> tuple[str, ...]:
        return (f"{_FIXED}=pic",) if self.is_position_independent else ()

    def consider(self, stage: str, tried: Tried) -> None:
        """Take `tried` for the best if it is."""
        self.count += 1
        if tried.actions[:1] == ("-Oz",) and not self.first and tried.cost < math.inf:
            self.first = int(tried.cost)
        if tried.cost < self.best.cost:
            self.best = tried
        self.watch(stage, self.best)

    def _try_all(
        self, stage: str, sequences: Sequence[tuple[str, ...]], part: Allowance
    ) -> Iterator[Tried]:
        """Yield what each sequence leaves, in order; those that fail leave infinitely much."""
        for at in range(0, len(sequences), _BATCH):
            if part.is_over and self.best.cost < math.inf:
                return
            batch = sequences[at : at + _BATCH]
            known = {s: self.journal.cost(s) for s in batch}
            new = part.take([s for s in batch if known[s] is None])
            costs = dict(zip(new, self._costs(new), strict=True))
            for sequence in batch:
                cost = known[sequence] if known[sequence] is not None else costs.get(sequence)
                if cost is None:
                    return
                tried = Tried(sequence, cost)
                if sequence in costs:
                    self.journal.add(stage, tried)
                yield tried

    def _costs(self, sequences: Sequence[tuple[str, ...]]) -> list[float]:
        waiting = list(enumerate(sequences))
        costs = [math.inf] * len(sequences)

        def work(bench: _Bench) -> None:
            with suppress(IndexError):  # another thread took the last one
                while True:
                    number, sequence = waiting.pop(0)
                    costs[number] = bench.cost(sequence)

        list(self._pool.map(work, self._benches))
        return costs

    def _known(self, stage: str, part: Allowance) -> None:
        names: list[str] = self._benches[0].env.action_space.names
        known = [tuple(names[number] for number in known) for known in known_sequences(names)]
        sequences = [*_LEVELS, *known]
        for tried in self._try_all(stage, [_ordered(s + self._fixed()) for s in sequences], part):
            self.consider(stage, tried)

    def _options(self, stage: str, part: Allowance) -> None:
        """Set one option after the other, those first that won most elsewhere."""
        waiting = list(_choices())
        missed: list[tuple[str, str]] = []
        while waiting and not part.is_over:
            batch, waiting = waiting[:_BATCH], waiting[_BATCH:]
            sequences = [_with_choice(self.best.actions, *choice) for choice in batch]
            before = self.best
            won: list[tuple[float, tuple[str, str]]] = []
            for choice, tried in zip(batch, self._try_all(stage, sequences, part), strict=False):
                if tried.cost < before.cost:
                    won.append((tried.cost, choice))
                self.consider(stage, tried)
            # What else helped is tried again, together with the best of its batch.
            waiting = [choice for _, choice in sorted(won)[1:] if choice not in missed] + waiting
            missed += [choice for _, choice in sorted(won)[1:]]

    def _drop(self, stage: str, part: Allowance) -> None:
        """Take back what wins nothing any more: what was chosen first may be in the way later."""
        passes, options = split(self.best.actions)
        for name in options:
            if name == _FIXED or part.is_over:
                continue
            passes, kept = split(self.best.actions)
            kept.pop(name, None)
            without = _ordered((*passes, *(f"{key}={value}" for key, value in kept.items())))
            for tried in self._try_all(stage, [without], part):
                if tried.cost <= self.best.cost:
                    self.best = tried
                self.consider(stage, tried)

    def _passes(self, stage: str, part: Allowance) -> None:
        space = self._benches[0].env.action_space
        start = [space[name] for name in self.best.actions]
        budget = Budget(
            seconds=None if part.seconds is None else max(part.seconds_left, 0.1),
            steps=part.compilations_left,
        )
        watcher = _Watcher(self, stage, part, space.names)
        found = run_search(
            self._make,
            [self.benchmark],
            budget=budget,
            jobs=self.jobs,
            seed=self.seed,
            starts=[start],
            step_seconds=_STEP_SECONDS,
            watcher=watcher,
        )[0]
        part.take([()] * (found.steps - watcher.steps))
        self.keep(stage, found.action_names)


class _Watcher:
    """Writes down what a search of ours finds, so that an end at any time keeps it."""

    def __init__(self, owner: SizeSearch, stage: str, part: Allowance, names: list[str]) -> None:
        self._owner, self._stage, self._part, self._names = owner, stage, part, names
        self.steps = 0
        """Those that are counted already."""

    def improved(self, improvement: Improvement) -> None:
        """Keep a better sequence, as it is with what is not to be chosen."""
        self._owner.keep(self._stage, [self._names[number] for number in improvement.actions])

    def tick(self, seconds: float, programs: Sequence[Progress]) -> None:
        """Show that it goes on; end it where somebody wants to stop."""
        steps = sum(program.steps for program in programs)
        self._part.take([()] * (steps - self.steps))
        self.steps = steps
        self._owner.watch(self._stage, self._owner.best)
        if self._part.is_stopped():
            raise KeyboardInterrupt


class _Bench:
    """An environment that keeps the last passes: options are set without running them again."""

    def __init__(self, env: Any) -> None:
        self.env = env
        self._passes: tuple[str, ...] | None = ()

    def cost(self, actions: Sequence[str]) -> float:
        """Return the bytes of machine code that `actions` leave; infinite where they fail."""
        passes, options = split(actions)
        try:
            if self._passes != passes:
                self._passes = None
                self.env.reset()
                self._step(passes)
                self._passes = passes
            self.env.codegen = options
            return float(self.env.observation[_SIZE])
        except CompilerGymError:
            self._passes = None
            return math.inf

    def _step(self, names: Sequence[str]) -> None:
        numbers = [self.env.action_space[name] for name in names]
        *_, truncated, info = self.env.multistep(numbers, [], [], timeout=_STEP_SECONDS)
        if truncated:
            raise info["error"]


def split(actions: Sequence[str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the passes among `actions`, and the options of the code generator that they set."""
    passes = tuple(action for action in actions if "=" not in action or "<" in action)
    chosen = [action.partition("=") for action in actions if action not in passes]
    return passes, {name: value for name, _, value in chosen if value != DEFAULT}


def _ordered(actions: Sequence[str]) -> tuple[str, ...]:
    """Return the passes, and then each option once: these count only at the end."""
    passes, options = split(actions)
    return (*passes, *(f"{name}={value}" for name, value in sorted(options.items())))


def _choices() -> Iterator[tuple[str, str]]:
    """Yield every option and value, those first that saved most on other programs."""
    ranked = sorted(
        (gain, option.name, value)
        for option in OPTIONS
        if option.name != _FIXED
        for value, gain in zip(option.values[1:], option.gains, strict=True)
    )
    yield from ((name, value) for _, name, value in ranked)


def _with_choice(actions: Sequence[str], name: str, value: str) -> tuple[str, ...]:
    kept = [action for action in actions if not action.startswith(f"{name}=")]
    return _ordered((*kept, f"{name}={value}"))
