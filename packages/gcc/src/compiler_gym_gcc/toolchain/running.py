# SPDX-License-Identifier: MIT
"""Build, run and time the program of an episode. Runs in a worker."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from compiler_gym.datasets import MeasuredRuns, counter_identity, find_run
from compiler_gym.errors import CompilerDiagnosticError, InvalidParameterError, ObservationError
from compiler_gym.session import BenchmarkSpec
from compiler_gym_gcc.toolchain.build import Builder

__all__ = ["Running"]


class Running:
    """The runs of one program, compiled with any settings."""

    def __init__(self, benchmark: BenchmarkSpec, builder: Callable[[], Builder]) -> None:
        self._runs = MeasuredRuns(find_run(benchmark.uri, benchmark.run))
        self._source = (benchmark.uri.partition("?")[0], benchmark.run)
        self._builder = builder
        self.counts = {"runtime_observation_count": 1, "runtime_warmup_runs_count": 0}
        """The number of values of ``runtime``, and the number of runs before the measurement."""

    def set(self, key: str, value: str) -> None:
        """Set one of `counts`."""
        least = 1 if key == "runtime_observation_count" else 0
        try:
            number = int(float(value))
        except ValueError:
            number = -1
        if number < least:
            raise InvalidParameterError(
                f"{key} must be a whole number of at least {least} (got {value!r})"
            )
        self.counts[key] = number

    def times(self, words: Sequence[str]) -> list[float]:
        """Return the wall-clock times of the program's largest case, in seconds."""
        count, warmups = self.counts.values()
        return self._runs.seconds(self._program(words), count=count, warmups=warmups)

    def seconds(self, words: Sequence[str]) -> float:
        """Return the median of `times`."""
        return median(self.times(words))

    def instructions(self, words: Sequence[str]) -> int:
        """Return the number of instructions that the program retires on a small case."""
        return self._runs.instructions(self._program(words))

    def identity(self) -> str:
        """Return a text that changes whenever counted instructions can change."""
        uri, run = self._source
        key = run if run else uri.encode()
        return hashlib.sha256(counter_identity().encode() + b"\0" + key).hexdigest()[:12]

    def _program(self, words: Sequence[str]) -> Path:
        try:
            return self._builder().program(words, self._runs.link_flags)
        except CompilerDiagnosticError as error:
            raise ObservationError(f"the program does not link: {error}") from error
