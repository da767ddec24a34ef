# SPDX-License-Identifier: MIT
"""Run a program that may do anything: hang, fork, fill the disk, print without end.

The program sees an empty directory with its inputs, a short environment and no
terminal. It is ended at the first limit it passes, and what it started ends with
it. What came out is returned as it is: judging it is not done here.
"""

import os
import resource
import secrets
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO

from compiler_gym.datasets.run_spec import ExpectedOutput, RunCase
from compiler_gym.errors import BenchmarkInitError
from compiler_gym.files import process_prefix, sweep

__all__ = ["RunLimits", "RunReport", "run_contained"]

_MARK = "COMPILER_GYM_RUN"
_TICK = 0.1
_PATIENCE, _PAUSE = 5.0, 0.001
_KEPT_ERRORS = 1 << 16
# The limits are set before the program starts, in a process of its own: a program that
# forks at once does not get away from them.
_LAUNCH = (
    'ulimit -c 0; ulimit -f "$1"; ulimit -t "$2"; [ "$3" = 0 ] || ulimit -v "$3"; '
    'shift 3; exec "$@"'
)
_KIND = "compiler_gym-run"
_REMOVE = 'chmod -R u+rwX "$1" 2>/dev/null; rm -rf "$1"'


@dataclass(frozen=True, slots=True)
class RunLimits:
    """What one run may use.

    >>> RunLimits(seconds=2).memory_bytes
    2147483648
    """

    seconds: float = 10.0
    """Wall time."""
    memory_bytes: int = 2 << 30
    """Address space of each process; 0 leaves it unbounded, as sanitizers need it."""
    output_bytes: int = 64 << 20
    """Bytes of one file, and of standard output; four times that for all together."""
    processes: int = 64
    """Processes alive at a time."""


@dataclass(frozen=True, slots=True)
class RunReport:
    """What one run left behind."""

    exit_status: int
    """The status it exited with, or minus the signal that ended it."""
    seconds: float
    """Wall time, the start of the process included."""
    stdout: bytes
    stderr: bytes
    """The last 64 KiB."""
    files: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """Those of the case's outputs that were written."""
    stopped_by: str | None = None
    """The limit it was ended at: ``time``, ``output`` or ``processes``."""
    cpu_seconds: float = 0.0
    """Processor time of the program and the children it waited for."""

    @property
    def outcome(self) -> ExpectedOutput:
        """What a run must repeat to be the same."""
        return ExpectedOutput.of(self.exit_status, stdout=self.stdout, files=self.files)


def run_contained(
    command: Sequence[str | os.PathLike[str]],
    case: RunCase | None = None,
    *,
    limits: RunLimits | None = None,
    environment: Mapping[str, str] | None = None,
) -> RunReport:
    """Run `command` with the arguments and files of `case` and return what it did.

    Raises `BenchmarkInitError` where the program cannot be started.
    """
    case, limits = case or RunCase(), limits or RunLimits()
    with (
        _scratch_directory() as directory,
        tempfile.TemporaryFile() as stdin,
        tempfile.TemporaryFile() as stdout,
        tempfile.TemporaryFile() as stderr,
    ):
        scratch = Path(directory)
        case.write_files(scratch)
        stdin.write(case.stdin)
        stdin.seek(0)
        words = [os.fspath(word) for word in command]
        words += [word.replace("{dir}", directory) for word in case.argv]
        mark = secrets.token_hex(8)
        variables = _environment(directory, mark) | dict(environment or {})
        started = time.monotonic()
        process = _start(words, limits, scratch, variables, (stdin, stdout, stderr))
        status, stopped_by, cpu_seconds = _wait(process, limits, scratch, mark)
        seconds, printed = time.monotonic() - started, _contents(stdout)
        if status == -signal.SIGXFSZ or len(printed) >= _blocks(limits) * 512:
            stopped_by = "output"
        elif status == -signal.SIGXCPU:
            stopped_by = "time"
        return RunReport(
            status,
            seconds,
            printed,
            _contents(stderr)[-_KEPT_ERRORS:],
            dict(_outputs(scratch, case)),
            stopped_by,
            cpu_seconds,
        )


@contextmanager
def _scratch_directory() -> Generator[str]:
    """Make a directory and remove it; those of processes that were killed go too."""
    sweep(Path(tempfile.gettempdir()), _KIND, _remove)
    directory = tempfile.mkdtemp(prefix=process_prefix(_KIND))
    try:
        yield directory
    finally:
        _remove(directory)


def _remove(directory: str | Path) -> None:
    try:
        shutil.rmtree(directory)
    except FileNotFoundError:
        pass
    except (OSError, RecursionError):  # closed to its owner, or nested too deeply for Python
        subprocess.run(["/bin/sh", "-c", _REMOVE, "sh", directory], check=False)


def _environment(directory: str, mark: str) -> dict[str, str]:
    path = os.environ.get("PATH", os.defpath)
    fixed = {"LC_ALL": "C", "TZ": "UTC", "HOME": directory, "TMPDIR": directory}
    return {"PATH": path, **fixed, _MARK: mark}


def _start(
    words: Sequence[str],
    limits: RunLimits,
    scratch: Path,
    variables: Mapping[str, str],
    streams: tuple[IO[bytes], IO[bytes], IO[bytes]],
) -> "subprocess.Popen[bytes]":
    if shutil.which(words[0]) is None:
        raise BenchmarkInitError(f"cannot run {words[0]}: no such program, or not executable")
    bounds = (
        str(_blocks(limits)),
        str(int(limits.seconds) + 1),
        str(limits.memory_bytes // 1024),
    )
    command = ["/bin/sh", "-c", _LAUNCH, "sh", *bounds, *_bound_to_parent(), *words]
    try:
        return subprocess.Popen(
            command,
            cwd=scratch,
            env=dict(variables),
            stdin=streams[0],
            stdout=streams[1],
            stderr=streams[2],
            start_new_session=True,
        )
    except OSError as error:
        raise BenchmarkInitError(f"cannot run {words[0]}: {error.strerror}") from error


def _blocks(limits: RunLimits) -> int:
    """Return the limit of a file in the shell's unit."""
    return max(limits.output_bytes // 512, 1)


@cache
def _bound_to_parent() -> tuple[str, ...]:
    """Return the command that ends a program with the process that started it."""
    found = shutil.which("setpriv")
    return (found, "--pdeathsig", "KILL", "--") if found else ()


def _wait(
    process: "subprocess.Popen[bytes]", limits: RunLimits, scratch: Path, mark: str
) -> tuple[int, str | None, float]:
    """Wait for the end or a limit; return the status, the limit passed and the time used."""
    handle = os.pidfd_open(process.pid)
    stopped_by = None
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        end = time.monotonic() + limits.seconds
        while not poll.poll(1000 * max(min(end - time.monotonic(), _TICK), 0)):
            stopped_by = _passed(process.pid, limits, scratch, end)
            if stopped_by is not None:
                break
    finally:
        os.close(handle)
        status, used = _end(process, mark)
    return status, stopped_by, used.ru_utime + used.ru_stime


def _passed(pid: int, limits: RunLimits, scratch: Path, end: float) -> str | None:
    if time.monotonic() >= end:
        return "time"
    if sum(1 for _ in _descendants(pid)) >= limits.processes:
        return "processes"
    return "output" if _size_of(scratch) > 4 * limits.output_bytes else None


def _end(process: "subprocess.Popen[bytes]", mark: str) -> tuple[int, resource.struct_rusage]:
    """End what still runs, reap the program and return its status and what it used."""
    try:
        os.killpg(process.pid, signal.SIGKILL)  # a program that has ended is not waited for yet
    except (ProcessLookupError, PermissionError):
        pass
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    patience = time.monotonic() + _PATIENCE
    while (left := list(_alive(process.pid, mark))) and time.monotonic() < patience:
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
        time.sleep(_PAUSE)  # a signal that is sent is not yet obeyed
    return process.returncode, used


def _alive(session: int, mark: str) -> Iterator[int]:
    """Yield what the program left: in its session, or with its environment, as daemons are."""
    wanted = f"{_MARK}={mark}".encode()
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) > session:
            try:
                folder = Path("/proc", name)
                state, _, _, its_session = (
                    (folder / "stat").read_bytes().rsplit(b")")[-1].split()[:4]
                )
                is_in_session = int(its_session) == session and state not in b"ZX"
                if is_in_session or wanted in (folder / "environ").read_bytes().split(b"\0"):
                    yield int(name)
            except OSError:
                continue


def _descendants(pid: int) -> Iterator[int]:
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return
    for child in map(int, text.split()):
        yield child
        yield from _descendants(child)


def _size_of(folder: Path) -> int:
    """Return the bytes of the files below `folder`, as far as a path reaches."""
    total, folders = 0, [str(folder)]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_size
        except OSError:
            continue
    return total


def _contents(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


def _outputs(scratch: Path, case: RunCase) -> Iterator[tuple[str, bytes]]:
    for name in case.outputs:
        path = scratch / name
        if path.is_file() and not path.is_symlink():
            yield name, path.read_bytes()
