# SPDX-License-Identifier: MIT
"""The program of an environment's next episode, and the datasets that have programs."""

import copy
from typing import Any

from compiler_gym.datasets import Benchmark, BenchmarkUri, Datasets
from compiler_gym.errors import BenchmarkTypeError


class Programs:
    """The datasets of an environment, and the program chosen for its next reset.

    Args:
        datasets: The datasets in which addresses are looked up.
        upcoming: The program of the first reset, or its address; None if none is chosen yet.

    Raises:
        ValueError: `upcoming` is not the address of a program.
    """

    def __init__(self, datasets: Datasets, upcoming: str | Benchmark | None) -> None:
        self.datasets = datasets
        self.upcoming = upcoming
        """The program of the next reset, if one was chosen."""
        if isinstance(upcoming, str):
            BenchmarkUri.from_string(upcoming)

    def find(self, benchmark: Any) -> Benchmark:
        """Return the program for an address or a `Benchmark`.

        Raises:
            BenchmarkTypeError: `benchmark` is neither.
            UnknownNameError: No dataset has a program at that address.
        """
        if isinstance(benchmark, Benchmark):
            self.datasets.require_known_keys(benchmark.uri)
            return benchmark
        if isinstance(benchmark, (str, BenchmarkUri)):
            return self.datasets.benchmark(str(benchmark))
        raise BenchmarkTypeError(
            f"a benchmark must be a URI or a Benchmark (got {type(benchmark).__name__})"
        )

    def take(self, requested: str | Benchmark | None, last: Benchmark | None) -> Benchmark:
        """Return the program of an episode that begins now.

        Args:
            requested: The program in the arguments of the reset; it takes precedence.
            last: The program of the last episode, used if none was chosen since.

        Raises:
            BenchmarkTypeError: No program was ever chosen.
        """
        benchmark = self.upcoming if requested is None else requested
        if benchmark is None and last is None:
            raise BenchmarkTypeError(
                "no benchmark is set: call reset(benchmark=...) with a URI or a Benchmark"
            )
        if benchmark is None:
            assert last is not None
            return last
        program = self.find(benchmark)
        self.upcoming = None
        return program

    def find_given(self, uri: str, last: Benchmark | None) -> Benchmark | None:
        """Return the `Benchmark` object that was passed to this environment for `uri`, if any.

        The object has its sources and validation callbacks, which an address does not.
        """
        for program in (last, self.upcoming):
            if isinstance(program, Benchmark) and str(program.uri) == uri:
                return program
        return None

    def copy(self) -> "Programs":
        """Return a copy whose datasets can be changed without changing these."""
        twin = copy.copy(self)
        twin.datasets = self.datasets.copy()
        return twin
