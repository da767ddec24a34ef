# SPDX-License-Identifier: MIT
"""The next program at every reset: in order, in a circle, or at random.

A program that is given to `reset` itself is used, and the order waits. An order goes on
at every reset, also at one with a seed, so that two resets with one seed may start on
different programs; only `RandomOrderBenchmarks` starts its order again.
"""

import copy
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np

from compiler_gym.datasets import Benchmark
from compiler_gym.errors import InvalidParameterError
from compiler_gym.wrappers.wrapper import CompilerEnvWrapper

__all__ = [
    "CycleOverBenchmarks",
    "CycleOverBenchmarksIterator",
    "IterateOverBenchmarks",
    "RandomOrderBenchmarks",
]

Program = str | Benchmark


class _ChoosesBenchmarks(CompilerEnvWrapper):
    """Choose a program at a reset that names none."""

    def next_benchmark(self) -> Program:
        """Return the program of the next episode."""
        raise NotImplementedError

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None, **arguments: Any
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode on the next program."""
        given = (options or {}).get("benchmark", arguments.get("benchmark"))
        if given is None:
            arguments["benchmark"] = self.next_benchmark()
        return super().reset(seed=seed, options=options, **arguments)


class IterateOverBenchmarks(_ChoosesBenchmarks):
    """Take the programs in order, once; then `reset` raises `StopIteration`.

    ``reset(seed=...)`` takes the next program too and does not start the order again.
    Forks take their own next programs, from the same place in the order on, unless
    `fork_shares_iterator`: then each program is taken by one of them. What is made of this
    environment's `spec` takes the programs of a list from the first on, and of an iterator
    those that are left.
    """

    left_out = frozenset({"_iterator"})

    def __init__(
        self, env: Any, benchmarks: Iterable[Program], fork_shares_iterator: bool = False
    ) -> None:
        super().__init__(env)
        if isinstance(benchmarks, (str, Benchmark)):
            raise InvalidParameterError(f"expected several programs, found {benchmarks!r}")
        self.fork_shares_iterator = fork_shares_iterator
        if isinstance(benchmarks, Iterator):
            benchmarks = self._recorded(benchmarks)
        self._iterator: Iterator[Program] = self._order(benchmarks)

    def next_benchmark(self) -> Program:
        """Return the next program in order."""
        return next(self._iterator)

    def _recorded(self, benchmarks: Iterator[Program]) -> Iterable[Program]:
        """Return `benchmarks` in a form that a spec can hold, and put it into this one's."""
        kept = self._to_record(benchmarks)
        args, named = self._arguments
        self._arguments = (
            tuple(kept if value is benchmarks else value for value in args),
            {name: kept if value is benchmarks else value for name, value in named.items()},
        )
        return kept

    def _to_record(self, benchmarks: Iterator[Program]) -> Iterable[Program]:
        return _Remaining(benchmarks)

    def _order(self, benchmarks: Iterable[Program]) -> Iterator[Program]:
        return _Listed(list(benchmarks)) if isinstance(benchmarks, Sequence) else iter(benchmarks)

    def _fork_around(self, below: Any) -> Self:
        twin = super()._fork_around(below)
        if self.fork_shares_iterator:
            twin._iterator = self._iterator
        elif isinstance(self._iterator, _Place):
            twin._iterator = self._iterator.copy()
        else:
            self._iterator, twin._iterator = itertools.tee(self._iterator)
        return twin

    def __reduce__(self) -> tuple[Any, ...]:
        if not isinstance(self._iterator, _Place):
            raise TypeError("programs of an iterator cannot be pickled: expected a list of them")
        make, arguments, kept = super().__reduce__()
        return make, arguments, {**kept, "_iterator": self._iterator}


class CycleOverBenchmarks(IterateOverBenchmarks):
    """Take the programs in order, and start again after the last, not at a seed."""

    def _order(self, benchmarks: Iterable[Program]) -> Iterator[Program]:
        if isinstance(benchmarks, Sequence):
            return _Listed(list(benchmarks), repeats=True)
        return itertools.cycle(benchmarks)


class CycleOverBenchmarksIterator(_ChoosesBenchmarks):
    """Take the programs of an iterator, and ask for a new one after the last.

    `make_benchmark_iterator` gives an iterator over programs, for example the method
    ``env.datasets["benchmark://cbench-v1"].benchmark_uris``. A fork starts one of its own;
    ``reset(seed=...)`` does not, and takes the next program.
    """

    left_out = frozenset({"_iterator"})
    shared = frozenset({"make_benchmark_iterator"})

    def __init__(self, env: Any, make_benchmark_iterator: Callable[[], Iterable[Program]]) -> None:
        super().__init__(env)
        self.make_benchmark_iterator = make_benchmark_iterator
        self._iterator: Iterator[Program] | None = None

    def next_benchmark(self) -> Program:
        """Return the next program; raise `InvalidParameterError` if there is none at all."""
        for _ in range(2):
            if self._iterator is None:
                self._iterator = iter(self.make_benchmark_iterator())
            for program in self._iterator:
                return program
            self._iterator = None
        raise InvalidParameterError("expected an iterator over programs, found an empty one")


class RandomOrderBenchmarks(IterateOverBenchmarks):
    """Take a random program each time, all equally likely, for ever.

    ``reset(seed=...)`` starts the draws again from that seed. A fork goes on with draws of
    its own, the same as here.
    """

    def __init__(
        self, env: Any, benchmarks: Iterable[Program], rng: np.random.Generator | None = None
    ) -> None:
        super().__init__(env, benchmarks)
        if rng is not None:
            self._draw_from(rng)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None, **arguments: Any
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode on a random program."""
        if seed is not None:
            self._draw_from(np.random.default_rng(seed))
        return super().reset(seed=seed, options=options, **arguments)

    def _to_record(self, benchmarks: Iterator[Program]) -> Iterable[Program]:
        return list(benchmarks)

    def _order(self, benchmarks: Iterable[Program]) -> Iterator[Program]:
        return _Drawn(list(benchmarks))

    def _draw_from(self, generator: np.random.Generator) -> None:
        draws: Any = self._iterator
        draws.generator = generator


class _Remaining:
    """What an iterator has left. Nobody can copy an iterator: copies of this share it."""

    def __init__(self, iterator: Iterator[Program]) -> None:
        self._iterator = iterator

    def __iter__(self) -> Iterator[Program]:
        return self._iterator

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


class _Place:
    """A place in an order of listed programs; unlike an iterator it is copied and pickled."""

    def __init__(self, items: list[Program]) -> None:
        if not items:
            raise InvalidParameterError("expected at least one program, found none")
        self._items = items

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Program:
        raise NotImplementedError

    def copy(self) -> Self:
        """Return another place, the same for now."""
        return copy.copy(self)


class _Listed(_Place):
    """A place in a list."""

    def __init__(self, items: list[Program], *, repeats: bool = False) -> None:
        super().__init__(items)
        self._repeats, self._at = repeats, 0

    def __next__(self) -> Program:
        if self._at >= len(self._items) and not self._repeats:
            raise StopIteration
        self._at += 1
        return self._items[(self._at - 1) % len(self._items)]


class _Drawn(_Place):
    """A place in a row of random draws."""

    def __init__(self, items: list[Program]) -> None:
        super().__init__(items)
        self.generator = np.random.default_rng()

    def __next__(self) -> Program:
        return self._items[int(self.generator.integers(len(self._items)))]

    def copy(self) -> Self:
        """Return another place with a generator of its own."""
        twin = super().copy()
        twin.generator = copy.deepcopy(self.generator)
        return twin
