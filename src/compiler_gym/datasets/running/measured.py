# SPDX-License-Identifier: MIT
"""Measure a built program on its inputs: the time it takes, the instructions it retires.

A measurement counts only if the program did its job: a run that crashes, hangs or
prints something else is an `ObservationError` that says so. Nothing is compiled here.
"""

import os
import re
import shlex
import shutil
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from compiler_gym.datasets.running.contained import RunLimits, RunReport, run_contained
from compiler_gym.datasets.running.run_spec import RunCase, RunSpec
from compiler_gym.errors import BenchmarkInitError, ObservationError
from compiler_gym.files import tool_identity

__all__ = [
    "CountingCommand",
    "MeasuredRuns",
    "counter_identity",
    "counting_command",
]

_TIMED_SIZES = ("ref", "default", "small", "test")
_COUNTED_SIZES = ("small", "default", "test", "ref")
_SLOWDOWN = 100
_MOST_QUOTED_OUTPUT = 500


class MeasuredRuns:
    """The runs of one program, however often it is built."""

    def __init__(self, spec: RunSpec | None) -> None:
        self._spec = spec

    @property
    def link_flags(self) -> Sequence[str]:
        """What the linker needs for this program."""
        return () if self._spec is None else self._spec.link

    @property
    def is_known(self) -> bool:
        """True if there is a case to run."""
        return self._spec is not None and len(self._spec.cases) > 0

    def succeeds(self, program: Path) -> bool:
        """Return whether the first case ends as expected."""
        if self._spec is None or not self.is_known:
            return False
        try:
            self._run(program, self._spec.cases[0])
        except ObservationError:
            return False
        return True

    def seconds(self, program: Path, *, count: int, warmups: int = 0) -> list[float]:
        """Return the wall-clock times of the largest case."""
        case = self._case(_TIMED_SIZES)
        with _one_processor():
            for _ in range(warmups):
                self._run(program, case)
            return [self._run(program, case).seconds for _ in range(count)]

    def in_turns(
        self, programs: tuple[Path, Path], *, count: int, warmups: int = 0
    ) -> tuple[list[float], list[float]]:
        """Return processor times of the largest case for two builds that are run in turns."""
        case = self._case(_TIMED_SIZES)
        times: tuple[list[float], list[float]] = ([], [])
        with _one_processor():
            for turn in range(warmups + count):
                order = (0, 1) if turn % 2 else (1, 0)
                for which in order:
                    seconds = self._run(programs[which], case).cpu_seconds
                    if turn >= warmups:
                        times[which].append(seconds)
        return times

    def instructions(self, program: Path) -> int:
        """Return the instructions that the program retires on a small case."""
        case = self._case(_COUNTED_SIZES)
        prefix, pattern, slowdown = _counter_command()
        if slowdown >= _SLOWDOWN:
            self._run(program, case)  # one that hangs is not waited for so much longer
        report = self._run(program, case, prefix=prefix, slowdown=slowdown)
        found = re.findall(pattern, report.stderr)
        if not found:
            said = report.stderr.decode(errors="replace")[-_MOST_QUOTED_OUTPUT:]
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
            said = report.stderr.decode(errors="replace").strip()[-_MOST_QUOTED_OUTPUT:]
            raise ObservationError(
                f"the program failed its case {case.name!r}: {problem}{': ' if said else ''}{said}"
            )
        return report


@cache
def counter_identity() -> str:
    """Return a text that changes when what counts instructions does."""
    return tool_identity(_counter_command()[0][0])


@dataclass(frozen=True, slots=True)
class CountingCommand:
    """Words of a shell that come before a program whose instructions are counted."""

    text: str
    pattern: bytes
    """Finds the number in what they write."""

    def total(self, written: Iterable[bytes]) -> int | None:
        """Return the sum over the files written, or None where no number is in them."""
        found = [re.search(self.pattern, text) for text in written]
        counts = [int(match[1].replace(b",", b"")) for match in found if match]
        return sum(counts) if counts else None


def counting_command(prefix: str) -> CountingCommand:
    """Return what counts the instructions of each process of a program, a file of `prefix` each.

    Raises `ObservationError` where neither perf nor valgrind can.
    """
    words, pattern, _ = _counter_command()
    text = shlex.join(words)
    if "valgrind" in Path(words[0]).name:
        return CountingCommand(f"{text} --log-file={shlex.quote(prefix)}%p", pattern)
    stat, end = text.removesuffix("--"), "--"
    return CountingCommand(f'{stat} -o {shlex.quote(prefix)}"$$" {end}', pattern)


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
def _one_processor() -> Generator[None]:
    """Keep this process and its children on one processor."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


@cache
def _counter_command() -> tuple[tuple[str, ...], bytes, float]:
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
