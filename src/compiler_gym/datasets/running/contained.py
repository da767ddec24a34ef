# SPDX-License-Identifier: MIT
"""Run an untrusted program, which may hang, fork, fill the disk or print endlessly.

The program runs in the selected sandbox (``compiler_gym.sandbox``), in a directory with only its
inputs, with a minimal environment and no terminal. It is killed, with its child processes, at the
first limit it exceeds. The output is returned unchanged and not judged here.
"""

import os
import shutil
import signal
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from compiler_gym.datasets.running.run_spec import ExpectedOutput, RunCase
from compiler_gym.errors import BenchmarkInitError, SandboxError
from compiler_gym.files import scratch_directory
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
