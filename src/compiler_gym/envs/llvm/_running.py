# SPDX-License-Identifier: MIT
"""Run the program of an episode, within limits, and say how long it took. Runs in a worker.

A time counts only if the program did its job: a run that crashes, hangs or prints
something else is an `ObservationError` that says so.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from compiler_gym import _llvm
from compiler_gym.datasets import (
    BenchmarkUri,
    RunCase,
    RunLimits,
    RunReport,
    RunSpec,
    run_contained,
    run_spec_of,
    unpack_run,
)
from compiler_gym.envs.llvm._build import Builder
from compiler_gym.envs.llvm._built import tool_identity
from compiler_gym.envs.llvm._timing import compare
from compiler_gym.errors import BenchmarkInitError, ObservationError, UnknownNameError
from compiler_gym.session import BenchmarkSpec

__all__ = ["Running", "counter_identity", "run_spec_in"]

BUNDLED = "benchmark://cbench-v1"
_TIMED_SIZES = ("ref", "default", "small", "test")
_COUNTED_SIZES = ("small", "default", "test", "ref")
_LEAST_PAIRS = 7
_SLOWDOWN = 100
_SHOWN = 500


def run_spec_in(benchmark: BenchmarkSpec) -> RunSpec | None:
    """Return how to run `benchmark`, or None where nobody said."""
    if benchmark.run:
        return unpack_run(benchmark.run)
    uri = BenchmarkUri.from_string(benchmark.uri)
    if f"{uri.scheme}://{uri.dataset}" != BUNDLED:
        return None
    try:
        return run_spec_of(uri.path.strip("/"))
    except (KeyError, OSError, UnknownNameError):
        return None


class Running:
    """The runs of one episode's program."""

    def __init__(self, spec: RunSpec | None, load: Callable[[], _llvm.Module]) -> None:
        self._spec = spec
        self._load = load
        self.observation_count = 1
        """How many times ``Runtime`` holds."""
        self.warmup_count = 0
        """How many runs come before them."""

    @property
    def link_flags(self) -> Sequence[str]:
        """What the linker needs for this program."""
        return () if self._spec is None else self._spec.link

    def is_runnable(self, module: _llvm.Module, builder: Builder) -> bool:
        """Return whether the program links, and its first case ends as expected."""
        if self._spec is None or not len(self._spec.cases):
            return False
        try:
            self._run(builder.build(module).path, self._spec.cases[0])
        except ObservationError:
            return False
        return True

    def times(self, module: _llvm.Module, builder: Builder) -> list[float]:
        """Return the wall-clock times of the program's largest case, in seconds."""
        path, case = builder.build(module).path, self._case(_TIMED_SIZES)
        with _one_processor():
            for _ in range(self.warmup_count):
                self._run(path, case)
            return [self._run(path, case).seconds for _ in range(self.observation_count)]

    def comparison(
        self, module: _llvm.Module, builder: Builder, reference: Builder
    ) -> dict[str, Any]:
        """Return processor times of the program now and at reset, run in turns."""
        case = self._case(_TIMED_SIZES)
        paths = (reference.build(self._load()).path, builder.build(module).path)
        times: tuple[list[float], list[float]] = ([], [])
        with _one_processor():
            for turn in range(self.warmup_count + max(self.observation_count, _LEAST_PAIRS)):
                order = (0, 1) if turn % 2 else (1, 0)
                for which in order:
                    seconds = self._run(paths[which], case).cpu_seconds
                    if turn >= self.warmup_count:
                        times[which].append(seconds)
        result = compare(*times)
        return {
            "speedup": result.speedup,
            "low": result.low,
            "high": result.high,
            "baseline": times[0],
            "candidate": times[1],
        }

    def instructions(self, module: _llvm.Module, builder: Builder) -> int:
        """Return the instructions that the program retires on a small case."""
        case, path = self._case(_COUNTED_SIZES), builder.build(module).path
        prefix, pattern, slowdown = _counter()
        report = self._run(path, case, prefix=prefix, slowdown=slowdown)
        found = re.findall(pattern, report.stderr)
        if not found:
            said = report.stderr.decode(errors="replace")[-_SHOWN:]
            raise ObservationError(f"cannot read what {prefix[0]} counted: {said}")
        return int(found[-1].replace(b",", b""))

    def _case(self, sizes: Sequence[str]) -> RunCase:
        if self._spec is None:
            raise ObservationError(
                "this program does not say how to run it: make it with run=RunSpec.single(...)"
            )
        for size in sizes:
            cases = self._spec.of_size(size).cases
            if len(cases):
                return cases[0]
        if not len(self._spec.cases):
            raise ObservationError("this program's RunSpec has no case to run")
        return self._spec.cases[0]

    def _run(
        self, path: Path, case: RunCase, *, prefix: Sequence[str] = (), slowdown: float = 1
    ) -> RunReport:
        """Run one case and return what it did, which is what it should do."""
        assert self._spec is not None
        memory = RunLimits().memory_bytes if slowdown == 1 else 0
        limits = RunLimits(self._spec.time_limit * slowdown, memory)
        try:
            report = run_contained([*prefix, path], case, limits=limits)
        except BenchmarkInitError as error:
            raise ObservationError(str(error)) from error
        problem = _problem(report, case)
        if problem:
            said = report.stderr.decode(errors="replace").strip()[-_SHOWN:]
            raise ObservationError(
                f"the program failed its case {case.name!r}: {problem}{': ' if said else ''}{said}"
            )
        return report


def _problem(report: RunReport, case: RunCase) -> str:
    """Return why a run is no measurement, or nothing."""
    if report.stopped_by is not None:
        return f"it passed its limit of {report.stopped_by}"
    if report.exit_status < 0:
        return f"it was ended by signal {-report.exit_status}"
    if case.expected is None:
        return ""
    return ", ".join(case.expected.differences(report.outcome))


@contextmanager
def _one_processor() -> Iterator[None]:
    """Keep this process and its children on one processor."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


@cache
def _counter() -> tuple[tuple[str, ...], bytes, float]:
    """Return a command that counts instructions, where it says the number, and its slowness."""
    perf = shutil.which("perf")
    if perf is not None:
        command = (perf, "stat", "-x;", "-e", "instructions:u", "--")
        report = run_contained([*command, "/bin/true"])
        if re.search(rb"^\d+;[^;]*;instructions", report.stderr, re.M):
            return command, rb"(?m)^(\d+);[^;]*;instructions", 1.5
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise ObservationError(
            "counting a program's instructions needs perf with access to the processor's "
            "counters, or valgrind: apt install valgrind"
        )
    flags = ("--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")
    return (valgrind, *flags), rb"I\s+refs:\s+([\d,]+)", _SLOWDOWN


@cache
def counter_identity() -> str:
    """Return a text that changes when what counts instructions does."""
    return tool_identity(_counter()[0][0])
