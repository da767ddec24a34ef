# SPDX-License-Identifier: MIT
"""Run an untrusted program, which may hang, fork, fill the disk or print endlessly, and measure it.

The program runs in the selected sandbox (``compiler_gym.sandbox``), in a directory with only its
inputs, with a minimal environment and no terminal. It is killed, with its child processes, at the
first limit it exceeds. The output is returned unchanged.

A measurement of its run time or its retired instructions counts only if the run is correct: a
program that crashes, hangs or prints the wrong output raises `ObservationError`. Nothing is
compiled here.
"""

import os
import re
import shlex
import shutil
import signal
import stat
import tempfile
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO

from compiler_gym.datasets.run_spec import ExpectedOutput, RunCase, RunSpec
from compiler_gym.errors import BenchmarkInitError, ObservationError, SandboxError
from compiler_gym.files import scratch_directory, tool_identity
from compiler_gym.sandbox import (
    FOLDER,
    BoxReport,
    RunLimits,
    Sandbox,
    Workplace,
    choose_tier,
    run_boxed,
)

_KEPT_ERRORS = 1 << 16
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK


@dataclass(frozen=True, slots=True)
class RunReport:
    """The result of one run."""

    exit_status: int
    """The exit status, or the negative number of the signal that killed it."""
    seconds: float
    """Wall time from the start of the program, without the setup of the sandbox."""
    stdout: bytes
    stderr: bytes
    """The last 64 KiB."""
    files: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """The output files of the case that the program wrote."""
    stopped_by: str | None = None
    """The exceeded limit, ``time``, ``output``, ``memory`` or ``processes``; None if none was."""
    cpu_seconds: float = 0.0
    """Processor time of the program and the children it waited for."""
    sandbox: str = Sandbox.NONE.value
    """The name of the `Sandbox` it ran in."""

    @property
    def outcome(self) -> ExpectedOutput:
        """The result as an expectation for other runs."""
        return ExpectedOutput.of(self.exit_status, stdout=self.stdout, files=self.files)


def run_contained(
    command: Sequence[str | os.PathLike[str]],
    case: RunCase | None = None,
    *,
    limits: RunLimits | None = None,
    environment: Mapping[str, str] | None = None,
    sandbox: str | Sandbox | None = None,
    visible: Sequence[str | os.PathLike[str]] = (),
) -> RunReport:
    """Run `command` with the arguments and files of `case` and return a report.

    `sandbox` defaults to the strongest that this machine supports; `visible` are files and folders
    that the program may read in addition to those of the system. Raises `BenchmarkInitError` if
    the program cannot be started, `UnknownNameError` if the sandbox does not exist, and
    `SandboxError` if it does not work on this machine.
    """
    case, limits = case or RunCase(), limits or RunLimits()
    tier, arguments = choose_tier(sandbox), _absolute_command(command)
    with (
        scratch_directory("run") as directory,
        tempfile.TemporaryFile() as stdin,
        tempfile.TemporaryFile() as stdout,
        tempfile.TemporaryFile() as stderr,
    ):
        is_apart = tier is Sandbox.NAMESPACES
        scratch, collected = _work_folders(Path(directory), is_apart)
        case.write_files(scratch)
        stdin.write(case.stdin)
        stdin.seek(0)
        inside = FOLDER if is_apart else str(scratch)
        try:
            report = run_boxed(
                [*arguments, *(argument.replace("{dir}", inside) for argument in case.argv)],
                Workplace(
                    scratch,
                    outputs=collected,
                    collect=case.outputs,
                    visible=[*filter(os.path.isfile, filter(os.path.isabs, arguments)), *visible],
                ),
                sandbox=tier,
                limits=limits,
                environment=_environment(inside) | dict(environment or {}),
                streams=(stdin.fileno(), stdout.fileno(), stderr.fileno()),
            )
        except SandboxError:
            raise
        except OSError as error:
            raise BenchmarkInitError(f"cannot run {command[0]}: {error.strerror}") from error
        printed = _read_all(stdout)
        return RunReport(
            exit_status=report.exit_status,
            seconds=report.seconds,
            stdout=printed,
            stderr=_read_all(stderr)[-_KEPT_ERRORS:],
            files=dict(_outputs(scratch, collected, case)),
            stopped_by=_find_stop_reason(report, printed, limits),
            cpu_seconds=report.cpu_seconds,
            sandbox=report.sandbox.value,
        )


def _work_folders(directory: Path, is_apart: bool) -> tuple[Path, Path | None]:
    """Return the folder of the inputs, and that of the outputs if it is separate."""
    if not is_apart:
        return directory, None
    for name in ("in", "out"):
        (directory / name).mkdir()
    return directory / "in", directory / "out"


def _absolute_command(command: Sequence[str | os.PathLike[str]]) -> list[str]:
    program, *arguments = [os.fspath(argument) for argument in command]
    path = shutil.which(program)
    if path is None:
        raise BenchmarkInitError(f"cannot run {program}: no such program, or not executable")
    return [os.path.abspath(path), *arguments]


def _find_stop_reason(report: BoxReport, printed: bytes, limits: RunLimits) -> str | None:
    if report.exit_status == -signal.SIGXFSZ or len(printed) >= max(limits.output_bytes, 512):
        return "output"
    if report.exit_status == -signal.SIGXCPU:
        return "time"
    return report.stopped_by


def _environment(directory: str) -> dict[str, str]:
    path = os.environ.get("PATH", os.defpath)
    fixed = {"LC_ALL": "C", "TZ": "UTC", "HOME": directory, "TMPDIR": directory}
    return {"PATH": path, **fixed}


def _read_all(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


def _outputs(scratch: Path, collected: Path | None, case: RunCase) -> Iterator[tuple[str, bytes]]:
    for number, name in enumerate(case.outputs):
        parts = Path(name).parts if collected is None else (str(number),)
        contents = _contents_below(scratch if collected is None else collected, parts)
        if contents is not None:
            yield name, contents


def _contents_below(folder: Path, parts: Sequence[str]) -> bytes | None:
    """Return the contents of a regular file below `folder`, or None.

    The program may have created links: none is followed, and no name can leave `folder`.
    """
    if not parts or parts[0] == "/" or ".." in parts:
        return None
    with ExitStack() as stack:
        try:
            parent = os.open(folder, _FOLDER)
            stack.callback(os.close, parent)
            for part in parts[:-1]:
                parent = os.open(part, _FOLDER, dir_fd=parent)
                stack.callback(os.close, parent)
            descriptor = os.open(parts[-1], _READ_FLAGS, dir_fd=parent)
            with os.fdopen(descriptor, "rb") as file:
                is_plain = stat.S_ISREG(os.fstat(descriptor).st_mode)
                return file.read() if is_plain else None
        except OSError:
            return None


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
