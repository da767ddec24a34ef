# SPDX-License-Identifier: MIT
"""Wrappers that choose the program of every reset: in order, repeatedly, or at random.

A program that is passed to `reset` is used instead, and takes no place in the order. A seed does
not restart the order, so two resets with the same seed may start on different programs; only
`RandomOrderBenchmarks` restarts its draws.
"""

import itertools
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NoReturn, Self

import numpy as np

from compiler_gym.core import ResetArguments, ResetResult
from compiler_gym.datasets import Benchmark
from compiler_gym.errors import InvalidParameterError
from compiler_gym.wrappers._below import Environment
from compiler_gym.wrappers.copying import Lasting, Shared
from compiler_gym.wrappers.wrapper import CompilerEnvWrapper

__all__ = [
    "CycleOverBenchmarks",
    "CycleOverBenchmarksIterator",
    "IterateOverBenchmarks",
    "RandomOrderBenchmarks",
]

Program = str | Benchmark


class _ChoosesBenchmarks(CompilerEnvWrapper):
    """Chooses the program of a reset that names none."""

    @abstractmethod
    def next_benchmark(self) -> Program:
        """Return the program of the next episode."""

    def handle_reset(self, asked: ResetArguments) -> ResetResult:
        """Start an episode on the next program."""
        if asked.settle().benchmark is None:
            asked = replace(asked, benchmark=self.next_benchmark())
        return super().handle_reset(asked)


class IterateOverBenchmarks(_ChoosesBenchmarks):
    """Take the programs in order, once; then `reset` raises `StopIteration`.

    ``reset(seed=...)`` takes the next program and does not restart the order. An environment that
    is made from `spec` takes the programs of a list from the first on, and those of an iterator
    that are left.

    Args:
        env: The environment.
        benchmarks: The programs or their addresses.
        fork_shares_iterator: Whether a fork and the original share one order, so that each
            program is taken by one of them. Otherwise a fork continues by itself from here.
    """

    def __init__(
        self, env: Environment, benchmarks: Iterable[Program], fork_shares_iterator: bool = False
    ) -> None:
        super().__init__(env)
        if isinstance(benchmarks, (str, Benchmark)):
            raise InvalidParameterError(f"expected several programs, found {benchmarks!r}")
        self.fork_shares_iterator = fork_shares_iterator
        if isinstance(benchmarks, Iterator):
            benchmarks = self._record(benchmarks)
        self._place: _Place = self._order(benchmarks)

    def next_benchmark(self) -> Program:
        """Return the next program in order."""
        return next(self._place)

    def fork(self) -> Self:
        """Return a fork that continues the order by itself, or shares it, as was chosen."""
        twin = super().fork()
        if self.fork_shares_iterator:
            twin._place = self._place
        return twin

    def _record(self, benchmarks: Iterator[Program]) -> Iterable[Program]:
        """Return `benchmarks` in a form that a spec can contain, and put it into `spec`."""
        kept = self._to_record(benchmarks)
        args, named = self._arguments.value
        self._arguments.value = (
            tuple(kept if value is benchmarks else value for value in args),
            {name: kept if value is benchmarks else value for name, value in named.items()},
        )
        return kept

    def _to_record(self, benchmarks: Iterator[Program]) -> Iterable[Program]:
        return _Remaining(benchmarks)

    def _order(self, benchmarks: Iterable[Program]) -> "_Place":
        if isinstance(benchmarks, Sequence):
            return _Listed(list(benchmarks))
        return _Iterated(iter(benchmarks))


class CycleOverBenchmarks(IterateOverBenchmarks):
    """Take the programs in order, and start again after the last one."""

    def _order(self, benchmarks: Iterable[Program]) -> "_Place":
        if isinstance(benchmarks, Sequence):
            return _Listed(list(benchmarks), repeats=True)
        return _Iterated(itertools.cycle(benchmarks))


class CycleOverBenchmarksIterator(_ChoosesBenchmarks):
    """Take the programs of an iterator, and make a new iterator after the last.

    A fork makes an iterator of its own; ``reset(seed=...)`` takes the next program.

    Args:
        env: The environment.
        make_benchmark_iterator: Returns an iterator over programs, for example the method
            ``env.datasets["benchmark://cbench-v1"].benchmark_uris``.
    """

    def __init__(
        self, env: Environment, make_benchmark_iterator: Callable[[], Iterable[Program]]
    ) -> None:
        super().__init__(env)
        self._rounds = _Rounds(make_benchmark_iterator)

    @property
    def make_benchmark_iterator(self) -> Callable[[], Iterable[Program]]:
        """Returns an iterator over all programs."""
        return self._rounds.make

    @make_benchmark_iterator.setter
    def make_benchmark_iterator(self, value: Callable[[], Iterable[Program]]) -> None:
        self._rounds.make = value

    def next_benchmark(self) -> Program:
        """Return the next program; raise `InvalidParameterError` if the iterator is empty."""
        return next(self._rounds)


class RandomOrderBenchmarks(IterateOverBenchmarks):
    """Take a random program at each reset, all equally likely.

    ``reset(seed=...)`` seeds the draws. A fork draws by itself, the same programs as the original.

    Args:
        env: The environment.
        benchmarks: The programs or their addresses.
        rng: The random generator of the draws; None makes one.
    """

    def __init__(
        self,
        env: Environment,
        benchmarks: Iterable[Program],
        rng: np.random.Generator | None = None,
    ) -> None:
        super().__init__(env, benchmarks)
        if rng is not None:
            self._draw_from(rng)

    def handle_reset(self, asked: ResetArguments) -> ResetResult:
        """Start an episode on a random program."""
        if asked.seed is not None:
            self._draw_from(np.random.default_rng(asked.seed))
        return super().handle_reset(asked)

    def _to_record(self, benchmarks: Iterator[Program]) -> Iterable[Program]:
        return list(benchmarks)

    def _order(self, benchmarks: Iterable[Program]) -> "_Place":
        return _Drawn(list(benchmarks))

    def _draw_from(self, generator: np.random.Generator) -> None:
        assert isinstance(self._place, _Drawn)
        self._place.generator = generator


class _Remaining:
    """The rest of an iterator. An iterator cannot be copied, so copies of this share it."""

    def __init__(self, iterator: Iterator[Program]) -> None:
        self._iterator = iterator

    def __iter__(self) -> Iterator[Program]:
        return self._iterator

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        _refuse_to_pickle()


class _Place(Lasting):
    """A position in an order of programs. A copy continues from there by itself."""

    @abstractmethod
    def __next__(self) -> Program:
        """Return the next program."""


class _Iterated(_Place):
    """A position in an iterator."""

    def __init__(self, iterator: Iterator[Program]) -> None:
        self._iterator = iterator

    def __next__(self) -> Program:
        return next(self._iterator)

    def __deepcopy__(self, memo: dict[int, Any]) -> "_Iterated":
        self._iterator, other = itertools.tee(self._iterator)
        return _Iterated(other)

    def __reduce__(self) -> NoReturn:
        _refuse_to_pickle()


class _Rounds(_Place):
    """A position in repeated iterators over all programs; a copy starts one of its own."""

    def __init__(self, make: Callable[[], Iterable[Program]]) -> None:
        self.make = make
        self._round: Iterator[Program] | None = None

    def __next__(self) -> Program:
        for _ in range(2):
            if self._round is None:
                self._round = iter(self.make())
            for program in self._round:
                return program
            self._round = None
        raise InvalidParameterError("expected an iterator over programs, found an empty one")

    def __deepcopy__(self, memo: dict[int, Any]) -> "_Rounds":
        return _Rounds(self.make)

    def __reduce__(self) -> tuple[Any, ...]:
        return _Rounds, (self.make,)


class _Listed(_Place):
    """A position in a list."""

    def __init__(self, items: list[Program], *, repeats: bool = False) -> None:
        self._items = _require(items)
        self._repeats, self._at = repeats, 0

    def __next__(self) -> Program:
        if self._at >= len(self._items.value) and not self._repeats:
            raise StopIteration
        self._at += 1
        return self._items.value[(self._at - 1) % len(self._items.value)]


class _Drawn(_Place):
    """A position in a sequence of random draws."""

    def __init__(self, items: list[Program]) -> None:
        self._items = _require(items)
        self.generator = np.random.default_rng()

    def __next__(self) -> Program:
        return self._items.value[int(self.generator.integers(len(self._items.value)))]


def _require(items: list[Program]) -> Shared[list[Program]]:
    """Return `items`, which copies share; raise `InvalidParameterError` if there are none."""
    if not items:
        raise InvalidParameterError("expected at least one program, found none")
    return Shared(items)


def _refuse_to_pickle() -> NoReturn:
    raise TypeError("programs of an iterator cannot be pickled: expected a list of them")
