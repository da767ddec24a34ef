# SPDX-License-Identifier: MIT
"""What a search decides of LLVM: the passes and options that make one module smallest.

In the order of what pays: known sequences of passes, then options of the code generator one
after the other from the best so far, then a search over both, then the options again, and last
what can be left out. Every number is the machine code of the whole module as the engine makes it.
"""

import math
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from compiler_gym.datasets import Benchmark
from compiler_gym.envs.llvm.actions import LINK_TIME
from compiler_gym.envs.llvm.actions.codegen_options import DEFAULT, OPTIONS
from compiler_gym.errors import CompilerGymError
from compiler_gym.registration import make
from compiler_gym.search import Budget, Improvement, Progress, known_sequences, run_search
from compiler_gym.tuning import Allowance, SizeSearch, State, Tried, Work

__all__ = ["SPACE", "PassesAndOptions"]

SPACE = "PassesAndCodegen"
"""The actions that are tried."""
_SIZE = "ObjectTextSizeBytes"
_REWARD = "ObjectTextSizeBytes"
_FIXED = "relocation-model"
_STEP_SECONDS = 120.0
_LEVELS = (("-Oz",), tuple(flag.name for flag in LINK_TIME), ("-Os",))


@dataclass
class PassesAndOptions:
    """What is decided of one module."""

    benchmark: Benchmark
    is_position_independent: bool
    jobs: int
    seed: int

    @contextmanager
    def measuring(self) -> Generator[None]:
        """Keep environments, and the threads that use them."""
        with ExitStack() as stack:
            self._benches = [_Bench(stack.enter_context(self._make())) for _ in range(self.jobs)]
            self._pool = stack.enter_context(ThreadPoolExecutor(self.jobs))
            yield

    def stages(self) -> Mapping[str, tuple[float, Work]]:
        """Return the stages and their shares; the options that won most elsewhere are first."""
        options = partial(SizeSearch.try_moves, moves=list(_choices()), apply=_with_choice)
        return {
            "known sequences": (0.12, partial(SizeSearch.try_all, states=self._known())),
            "options": (0.36, options),
            "passes": (0.34, self._passes),
            "options again": (0.13, options),
            "dropping": (0.05, partial(SizeSearch.drop, may_drop=_is_choice)),
        }

    def costs(self, states: Sequence[State], best: State) -> list[float]:
        """Return the bytes that each state leaves; those that fail leave infinitely much."""
        waiting = list(enumerate(states))
        costs = [math.inf] * len(states)

        def work(bench: _Bench) -> None:
            with suppress(IndexError):  # another thread took the last one
                while True:
                    number, state = waiting.pop(0)
                    costs[number] = bench.cost(state)

        list(self._pool.map(work, self._benches))
        return costs

    def is_first(self, state: State) -> bool:
        """Return whether it begins with -Oz."""
        return state[:1] == ("-Oz",)

    def rank(self, tried: Tried) -> tuple[float]:
        """Bytes alone decide."""
        return (tried.cost,)

    def keep(self, search: SizeSearch, stage: str, names: Sequence[str]) -> None:
        """Take actions that a search found, measured with the machine code that is linked.

        A search may choose code that is no longer position-independent, because it is smaller.
        """
        chosen = [name for name in names if not name.startswith(f"{_FIXED}=")]
        search.keep(stage, self._state(chosen))

    def _make(self) -> Any:
        env = make("llvm-v0", action_space=SPACE, reward_space=_REWARD)
        env.reset(benchmark=self.benchmark)
        return env

    def _state(self, names: Sequence[str]) -> State:
        fixed = (f"{_FIXED}=pic",) if self.is_position_independent else ()
        return _ordered((*names, *fixed))

    def _known(self) -> list[State]:
        names: list[str] = self._benches[0].env.action_space.names
        known = [tuple(names[number] for number in known) for known in known_sequences(names)]
        return [self._state(sequence) for sequence in (*_LEVELS, *known)]

    def _passes(self, search: SizeSearch, stage: str, part: Allowance) -> None:
        space = self._benches[0].env.action_space
        start = [space[name] for name in search.best.actions]
        budget = Budget(
            seconds=None if part.seconds is None else max(part.seconds_left, 0.1),
            steps=part.compilations_left,
        )
        watcher = _Watcher(self, search, stage, part, space.names)
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
        self.keep(search, stage, found.action_names)


@dataclass
class _Watcher:
    """Writes down what a search of ours finds, so that an end at any time keeps it."""

    decisions: PassesAndOptions
    search: SizeSearch
    stage: str
    part: Allowance
    names: Sequence[str]
    steps: int = 0
    """Those that are counted already."""

    def improved(self, improvement: Improvement) -> None:
        """Keep a better sequence, as it is with what is not to be chosen."""
        names = [self.names[number] for number in improvement.actions]
        self.decisions.keep(self.search, self.stage, names)

    def tick(self, seconds: float, programs: Sequence[Progress]) -> None:
        """Show that it goes on; end it where somebody wants to stop."""
        steps = sum(program.steps for program in programs)
        self.part.take([()] * (steps - self.steps))
        self.steps = steps
        self.search.watch(self.stage, self.search.best)
        if self.part.is_stopped():
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


def _ordered(actions: Sequence[str]) -> State:
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


def _is_choice(action: str) -> bool:
    return bool(split([action])[1]) and not action.startswith(f"{_FIXED}=")


def _with_choice(state: State, choice: tuple[str, str]) -> State:
    name, value = choice
    kept = [action for action in state if not action.startswith(f"{name}=")]
    return _ordered((*kept, f"{name}={value}"))
