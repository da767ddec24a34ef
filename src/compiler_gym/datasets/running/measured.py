# SPDX-License-Identifier: MIT
"""Measure the run time and the retired instructions of a compiled program.

A measurement counts only if the run is correct: a program that crashes, hangs or prints the wrong
output raises `ObservationError`. Nothing is compiled here.
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

_TIMED_SIZES = ("ref", "default", "small", "test")
_COUNTED_SIZES = ("small", "default", "test", "ref")
_SLOWDOWN = 100
_MOST_QUOTED_OUTPUT = 500


class MeasuredRuns:
    """Measured runs of one program, for any number of builds."""

    def __init__(self, spec: RunSpec | None) -> None:
        self._spec = spec

    @property
    def link_flags(self) -> Sequence[str]:
        """The linker flags of the program."""
        return () if self._spec is None else self._spec.link

    @property
    def is_known(self) -> bool:
        """True if there is a case to run."""
        return self._spec is not None and len(self._spec.cases) > 0

    def succeeds(self, program: Path) -> bool:
        """Return whether the first case gives the expected result."""
        if self._spec is None or not self.is_known:
            return False
        try:
            self._run(program, self._spec.cases[0])
        except ObservationError:
            return False
        return True

    def seconds(self, program: Path, *, count: int, warmups: int = 0) -> list[float]:
        """Return the wall times of the largest case, in seconds."""
        case = self._case(_TIMED_SIZES)
        with _one_processor():
            for _ in range(warmups):
                self._run(program, case)
            return [self._run(program, case).seconds for _ in range(count)]

    def in_turns(
        self, programs: tuple[Path, Path], *, count: int, warmups: int = 0
    ) -> tuple[list[float], list[float]]:
        """Return processor times in seconds of the largest case for two builds, run alternately.

        Alternating cancels slow changes of the machine's speed.
        """
        case = self._case(_TIMED_SIZES)
        times: tuple[list[float], list[float]] = ([], [])
        with _one_processor():
            for turn in range(warmups + count):
                order = (0, 1) if turn % 2 else (1, 0)
                for index in order:
                    seconds = self._run(programs[index], case).cpu_seconds
                    if turn >= warmups:
                        times[index].append(seconds)
        return times

    def instructions(self, program: Path) -> int:
        """Return the number of instructions that the program retires on a small case."""
        case = self._case(_COUNTED_SIZES)
        prefix, pattern, slowdown = _counter_command()
        if slowdown >= _SLOWDOWN:
            self._run(program, case)  # a hang is detected without the counter's slowdown
        report = self._run(program, case, prefix=prefix, slowdown=slowdown)
        counts = re.findall(pattern, report.stderr)
        if not counts:
            output = report.stderr.decode(errors="replace")[-_MOST_QUOTED_OUTPUT:]
            raise ObservationError(f"cannot read the instruction count of {prefix[0]}: {output}")
        return int(counts[-1].replace(b",", b""))

    def _case(self, sizes: Sequence[str]) -> RunCase:
        if self._spec is None:
            raise ObservationError(
                "this program has no RunSpec; create it with run=RunSpec.single(...)"
            )
        for size in sizes:
            cases = self._spec.of_size(size).cases
            if len(cases):
                return cases[0]
        if not len(self._spec.cases):
            raise ObservationError("this program's RunSpec has no cases")
        return self._spec.cases[0]

    def _run(
        self, path: Path, case: RunCase, *, prefix: Sequence[str] = (), slowdown: float = 1
    ) -> RunReport:
        """Run one case and return the report; raise `ObservationError` if the result is wrong."""
        assert self._spec is not None
        memory = RunLimits().memory_bytes if slowdown == 1 else 0
        limits = RunLimits(self._spec.time_limit * slowdown, memory)
        try:
            report = run_contained([*prefix, path], case, limits=limits)
        except BenchmarkInitError as error:
            raise ObservationError(str(error)) from error
        problem = _problem(report, case)
        if problem:
            output = report.stderr.decode(errors="replace").strip()[-_MOST_QUOTED_OUTPUT:]
            raise ObservationError(
                f"the program failed case {case.name!r}: {problem}{output and ': '}{output}"
            )
        return report


@cache
def counter_identity() -> str:
    """Return a string that changes when the tool that counts instructions does."""
    return tool_identity(_counter_command()[0][0])


@dataclass(frozen=True, slots=True)
class CountingCommand:
    """A shell command prefix that counts the instructions of a program."""

    text: str
    pattern: bytes
    """A regular expression that matches the count in the output."""

    def total(self, written: Iterable[bytes]) -> int | None:
        """Return the sum over the output files, or None if none contains a count."""
        matches = [re.search(self.pattern, text) for text in written]
        counts = [int(match[1].replace(b",", b"")) for match in matches if match]
        return sum(counts) if counts else None


def counting_command(prefix: str) -> CountingCommand:
    """Return a command that counts the instructions of each process of a program.

    Each process writes a file whose name starts with `prefix`. Raises `ObservationError` if
    neither perf nor valgrind works.
    """
    command, pattern, _ = _counter_command()
    text = shlex.join(command)
    if "valgrind" in Path(command[0]).name:
        return CountingCommand(f"{text} --log-file={shlex.quote(prefix)}%p", pattern)
    stat, end = text.removesuffix("--"), "--"
    return CountingCommand(f'{stat} -o {shlex.quote(prefix)}"$$" {end}', pattern)


def _problem(report: RunReport, case: RunCase) -> str:
    """Return why a run is not a valid measurement, or an empty string."""
    if report.stopped_by is not None:
        return f"it exceeded its limit of {report.stopped_by}"
    if report.exit_status < 0:
        return f"it was killed by signal {-report.exit_status}"
    if case.expected is None:
        return ""
    return ", ".join(case.expected.differences(report.outcome))


@contextmanager
def _one_processor() -> Generator[None]:
    """Pin this process and its children to one processor."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


@cache
def _counter_command() -> tuple[tuple[str, ...], bytes, float]:
    """Return a command that counts instructions, a pattern for the count, and its slowdown."""
    perf = shutil.which("perf")
    if perf is not None:
        command = (perf, "stat", "-x;", "-e", "instructions:u", "--")
        report = run_contained([*command, "/bin/true"])
        if re.search(rb"^\d+;[^;]*;instructions", report.stderr, re.M):
            return command, rb"(?m)^(\d+);[^;]*;instructions", 1.5
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise ObservationError(
            "cannot count instructions: perf has no access to the processor's counters, and "
            "valgrind was not found; install it with `apt install valgrind`"
        )
    flags = ("--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")
    return (valgrind, *flags), rb"I\s+refs:\s+([\d,]+)", _SLOWDOWN
