# SPDX-License-Identifier: MIT
"""Wrappers that choose the program of every reset: in order, repeatedly, or at random.

A program that is passed to `reset` is used instead and does not advance the order. A seed does not
restart the order, so two resets with the same seed may start on different programs; only
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
from compiler_gym.wrappers.layers import Environment, Lasting, Shared
from compiler_gym.wrappers.wrapper import CompilerEnvWrapper

Program = str | Benchmark


class _ChoosesBenchmarks(CompilerEnvWrapper):
    """A wrapper that chooses the program of a reset without one."""

    @abstractmethod
    def next_benchmark(self) -> Program:
        """Return the program of the next episode."""

    def handle_reset(self, asked: ResetArguments) -> ResetResult:
        """Start an episode on the next program."""
        if asked.settle().benchmark is None:
            asked = replace(asked, benchmark=self.next_benchmark())
        return super().handle_reset(asked)


class IterateOverBenchmarks(_ChoosesBenchmarks):
    """A wrapper that uses the programs in order, once; then `reset` raises `StopIteration`.

    ``reset(seed=...)`` uses the next program and does not restart the order. An environment made
    from `spec` starts again with the first program of a list, but continues an iterator.

    Args:
        env: The environment.
        benchmarks: The programs or their addresses.
        fork_shares_iterator: True if a fork and the original share the order, so that only one
            uses each program; otherwise a fork continues independently from here.
    """

    def __init__(
        self, env: Environment, benchmarks: Iterable[Program], fork_shares_iterator: bool = False
    ) -> None:
        super().__init__(env)
        if isinstance(benchmarks, (str, Benchmark)):
            raise InvalidParameterError(
                f"benchmarks must be a list of programs (got {benchmarks!r})"
            )
        self.fork_shares_iterator = fork_shares_iterator
        if isinstance(benchmarks, Iterator):
            benchmarks = self._record(benchmarks)
        self._position: _Position = self._order(benchmarks)

    def next_benchmark(self) -> Program:
        """Return the next program in order."""
        return next(self._position)

    def fork(self) -> Self:
        """Return a fork that continues the order independently, or shares it if so configured."""
        twin = super().fork()
        if self.fork_shares_iterator:
            twin._position = self._position
        return twin

    def _record(self, benchmarks: Iterator[Program]) -> Iterable[Program]:
        """Return `benchmarks` in a form that a spec can contain, and store it in `spec`."""
        programs = self._to_record(benchmarks)
        args, kwargs = self._arguments.value
        self._arguments.value = (
            tuple(programs if value is benchmarks else value for value in args),
            {name: programs if value is benchmarks else value for name, value in kwargs.items()},
        )
        return programs

    def _to_record(self, benchmarks: Iterator[Program]) -> Iterable[Program]:
        return _Remaining(benchmarks)

    def _order(self, benchmarks: Iterable[Program]) -> "_Position":
        if isinstance(benchmarks, Sequence):
            return _Listed(list(benchmarks))
        return _Iterated(iter(benchmarks))


class CycleOverBenchmarks(IterateOverBenchmarks):
    """A wrapper that uses the programs in order, and starts again after the last one."""

    def _order(self, benchmarks: Iterable[Program]) -> "_Position":
        if isinstance(benchmarks, Sequence):
            return _Listed(list(benchmarks), repeats=True)
        return _Iterated(itertools.cycle(benchmarks))


class CycleOverBenchmarksIterator(_ChoosesBenchmarks):
    """A wrapper that uses the programs of an iterator, and makes a new iterator at its end.

    A fork makes its own iterator; ``reset(seed=...)`` uses the next program.

    Args:
        env: The environment.
        make_benchmark_iterator: A function that returns an iterator over programs, such as
            ``env.datasets["benchmark://cbench-v1"].benchmark_uris``.
    """

    def __init__(
        self, env: Environment, make_benchmark_iterator: Callable[[], Iterable[Program]]
    ) -> None:
        super().__init__(env)
        self._rounds = _Rounds(make_benchmark_iterator)

    @property
    def make_benchmark_iterator(self) -> Callable[[], Iterable[Program]]:
        """The function that returns an iterator over all programs."""
        return self._rounds.make

    @make_benchmark_iterator.setter
    def make_benchmark_iterator(self, value: Callable[[], Iterable[Program]]) -> None:
        self._rounds.make = value

    def next_benchmark(self) -> Program:
        """Return the next program; raise `InvalidParameterError` if the iterator is empty."""
        return next(self._rounds)


class RandomOrderBenchmarks(IterateOverBenchmarks):
    """A wrapper that uses a random program at each reset, all equally likely.

    ``reset(seed=...)`` seeds the draws. A fork draws the same programs as the original.

    Args:
        env: The environment.
        benchmarks: The programs or their addresses.
        rng: The random generator; None creates one.
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

    def _order(self, benchmarks: Iterable[Program]) -> "_Position":
        return _Drawn(list(benchmarks))

    def _draw_from(self, generator: np.random.Generator) -> None:
        assert isinstance(self._position, _Drawn)
        self._position.generator = generator


class _Remaining:
    """The remaining items of an iterator; copies share it, because iterators cannot be copied."""

    def __init__(self, iterator: Iterator[Program]) -> None:
        self._iterator = iterator

    def __iter__(self) -> Iterator[Program]:
        return self._iterator

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        _refuse_to_pickle()


class _Position(Lasting):
    """A position in an order of programs. A copy continues independently from there."""

    @abstractmethod
    def __next__(self) -> Program:
        """Return the next program."""


class _Iterated(_Position):
    """A position in an iterator."""

    def __init__(self, iterator: Iterator[Program]) -> None:
        self._iterator = iterator

    def __next__(self) -> Program:
        return next(self._iterator)

    def __deepcopy__(self, memo: dict[int, Any]) -> "_Iterated":
        self._iterator, copied = itertools.tee(self._iterator)
        return _Iterated(copied)

    def __reduce__(self) -> NoReturn:
        _refuse_to_pickle()


class _Rounds(_Position):
    """A position in repeated iterators over all programs; a copy starts its own."""

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
        raise InvalidParameterError("the iterator over programs is empty")

    def __deepcopy__(self, memo: dict[int, Any]) -> "_Rounds":
        return _Rounds(self.make)

    def __reduce__(self) -> tuple[Any, ...]:
        return _Rounds, (self.make,)


class _Listed(_Position):
    """A position in a list."""

    def __init__(self, items: list[Program], *, repeats: bool = False) -> None:
        self._items = _require(items)
        self._repeats, self._at = repeats, 0

    def __next__(self) -> Program:
        if self._at >= len(self._items.value) and not self._repeats:
            raise StopIteration
        self._at += 1
        return self._items.value[(self._at - 1) % len(self._items.value)]


class _Drawn(_Position):
    """A position in a sequence of random draws."""

    def __init__(self, items: list[Program]) -> None:
        self._items = _require(items)
        self.generator = np.random.default_rng()

    def __next__(self) -> Program:
        return self._items.value[int(self.generator.integers(len(self._items.value)))]


def _require(items: list[Program]) -> Shared[list[Program]]:
    """Return `items` to be shared by copies; raise `InvalidParameterError` if empty."""
    if not items:
        raise InvalidParameterError("benchmarks is empty; pass at least one program")
    return Shared(items)


def _refuse_to_pickle() -> NoReturn:
    raise TypeError("cannot pickle an iterator of programs; pass a list instead")
