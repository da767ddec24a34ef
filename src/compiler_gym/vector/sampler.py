# SPDX-License-Identifier: MIT
"""Samplers that draw the program of a row's next episode."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from compiler_gym.core import CompilerEnv
from compiler_gym.datasets import Benchmark, BenchmarkUri, Dataset
from compiler_gym.errors import InvalidParameterError

__all__ = ["Sampler", "make_sampler"]

Sampler = Callable[[np.random.Generator], str | Benchmark]
"""A function from a random generator to a program."""


def make_sampler(
    choice: Sampler | Sequence[Any] | None,
) -> Callable[[CompilerEnv], str | Benchmark] | None:
    """Return a function that draws a program for an environment, with its random generator.

    Args:
        choice: A function of a random generator, or a sequence of programs and datasets, as objects
            or addresses. Each item is equally likely, and so is each program of a dataset.

    Raises:
        InvalidParameterError: `choice` is neither, or is empty.
    """
    if choice is None:
        return None
    if callable(choice):
        return _Drawn(choice)
    items = list(choice) if not isinstance(choice, str) else []
    if not items:
        raise InvalidParameterError(
            f"sampler must be a function or a list of programs and datasets (got {choice!r})"
        )
    return _Listed(items)


class _Drawn:
    """A sampler that draws with a function."""

    def __init__(self, draw: Sampler) -> None:
        self._draw = draw

    def __call__(self, env: CompilerEnv) -> str | Benchmark:
        return self._draw(env.np_random)


class _Listed:
    """A sampler that draws from programs and datasets."""

    def __init__(self, items: list[Any]) -> None:
        self._items = items

    def __call__(self, env: CompilerEnv) -> str | Benchmark:
        item = self._items[int(env.np_random.integers(len(self._items)))]
        if isinstance(item, Dataset):
            return item.random_benchmark(env.np_random)
        if isinstance(item, str) and not BenchmarkUri.from_string(item).path.strip("/"):
            return env.datasets[item].random_benchmark(env.np_random)
        return item
