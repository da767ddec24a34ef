# SPDX-License-Identifier: MIT
"""Run one command in a sandbox and report how it ended.

The helper (``native/src/box``) makes the sandbox, supervises it and writes one line at the end. It
ends with this process, and every process in the sandbox ends with the helper. Input files are
copied into the program's folder and output files are copied out, so that the program never has
access to a folder of the host.
"""

import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from compiler_gym.errors import SandboxError
from compiler_gym.files import scratch_directory
from compiler_gym.sandbox.groups import ControlGroup, group_for
from compiler_gym.sandbox.tiers import Sandbox, way
from compiler_gym.sandbox.ways import (
    DEVICES,
    NOBODY,
    OWN,
    SYSTEM,
    Way,
    explain_failure,
    find_helper,
    is_system,
    wrap_command,
)

FOLDER = "/box"
"""The working directory of a program in namespaces."""

_HELPER_GRACE_SECONDS = 20.0
"""Seconds after the time limit at which the helper itself is killed."""
_VISIBLE = "COMPILER_GYM_SANDBOX_VISIBLE"
_COUNTERS = ("perf",)
_NOT_MADE = "cannot make the sandbox: "
_LOOK_SECONDS = 0.5
_PROBE_SECONDS = 60.0
"""Long enough that a slow machine is not mistaken for one without namespaces."""


@dataclass(frozen=True, slots=True)
class RunLimits:
    """The resources that one run may use.

    >>> RunLimits(seconds=2).memory_bytes
    2147483648
    """

    seconds: float = 10.0
    """Wall time."""
    memory_bytes: int = 2 << 30
    """Address space of each process; 0 leaves it unbounded, as sanitizers need it."""
    output_bytes: int = 64 << 20
    """Limit in bytes of each file and of standard output; four times this for all files."""
    processes: int = 64
    """Processes and threads alive at a time."""
    total_memory_bytes: int = 4 << 30
    """Memory of all processes and the files of the scratch folder; 0 is unlimited."""
    open_files: int = 256
    """Open file descriptors of each process, pipes included."""


@dataclass(frozen=True, slots=True)
class BoxReport:
    """The end of a command."""

    exit_status: int
    """The status it exited with, or minus the signal that ended it."""
    seconds: float
    """Wall time from the start of the program to its end."""
    cpu_seconds: float
    """Processor time of the program and the children it waited for."""
    peak_bytes: int
    """The peak resident memory of any one process."""
    stopped_by: str | None
    """The limit that it exceeded: ``time``, ``output``, ``memory`` or ``processes``; ``sandbox`` if
    it ended the sandbox itself; None if it ended by itself."""
    sandbox: Sandbox
    """The tier in which it ran."""


@dataclass(frozen=True, slots=True)
class Workplace:
    """The files of the host that a sandboxed program gets.

    In namespaces it works on copies, in `FOLDER`. In other tiers, or with `in_place`, it works in
    `folder` itself.
    """

    folder: Path
    """The input files."""
    outputs: Path | None = None
    """Receives the files of `collect` as ``0``, ``1``, ... if the program worked on copies."""
    collect: Sequence[str] = ()
    """The names of output files, relative to the program's folder."""
    visible: Sequence[str | os.PathLike[str]] = ()
    """Paths of the host that the program may read besides the system's, such as the program itself.
    Arguments of the command are not included: they may come from an untrusted source."""
    in_place: bool = False
    """True to work in `folder` itself, as the calling user."""
    directory: Path | None = None
    """The initial working directory; None for the program's folder."""


def run_boxed(
    command: Sequence[str],
    place: Workplace,
    *,
    sandbox: Sandbox,
    limits: RunLimits,
    environment: Mapping[str, str],
    streams: tuple[int, int, int],
    way_to: Way | None = None,
    stop: int | None = None,
) -> BoxReport:
    """Run `command` at `place` and return how it ended.

    Args:
        command: The program and its arguments. A path among them does not become readable:
            arguments may come from an untrusted source.
        place: The input and output files of the program.
        sandbox: The tier to run in.
        limits: The resources that the run may use.
        environment: The program's environment variables, all of them.
        streams: The descriptors of standard input, output and error.
        way_to: The way to make namespaces; None for the one that works here.
        stop: A descriptor; the run is ended when it becomes readable.

    Raises:
        SandboxError: The sandbox cannot be made.
        OSError: The program cannot be started.
    """
    is_apart = sandbox is Sandbox.NAMESPACES
    chosen_way = OWN if not is_apart else way_to or way()
    with ExitStack() as stack:
        order = _Order(stack, find_helper(), place.folder, limits)
        order.show(place.visible)
        if Path(command[0]).name in _COUNTERS:
            order.words.append("--counters")
        if place.directory is not None:
            order.words.append(f"--directory={place.directory}")
        if not is_apart:
            order.words.append(f"--folder={place.folder}")
            order.words += ["--keep-user"] if place.in_place else []
        elif place.in_place:
            order.work_in(place.folder)
        else:
            order.copy(place.outputs, place.collect)
        group = order.join_group() if sandbox is not Sandbox.NONE and chosen_way == OWN else None
        reading, writing = os.pipe()
        stack.callback(os.close, reading)
        try:
            order.kept.append(writing)
            order.words.append(f"--report={writing}")
            words = order.for_way(chosen_way, sandbox, command)
            user = order.user(chosen_way, place.in_place)
            process = subprocess.Popen(
                words,
                env=dict(environment),
                stdin=streams[0],
                stdout=streams[1],
                stderr=streams[2],
                pass_fds=order.kept,
                start_new_session=True,
                user=user,
                group=user,
                extra_groups=None if user is None else [],
            )
        except OSError as error:
            raise SandboxError(f"cannot start the sandbox: {error}") from error
        finally:
            os.close(writing)
        report = read_report(process, reading, limits.seconds, stop, is_apart=is_apart)
        return box_report(report, sandbox, group)


def try_way(way_to_try: Way) -> str:
    """Return why no program runs in namespaces made this way; an empty text if one does.

    Raises `SandboxError` if the trial run takes too long.
    """
    started = time.monotonic()
    try:
        helper = find_helper()
        with (
            scratch_directory("probe") as directory,
            open(os.devnull, "r+b") as nothing,
            tempfile.TemporaryFile() as errors,
        ):
            null = nothing.fileno()
            report = run_boxed(
                [helper, "nothing"],
                Workplace(Path(directory), visible=[helper]),
                sandbox=Sandbox.NAMESPACES,
                limits=RunLimits(seconds=_PROBE_SECONDS),
                environment={},
                streams=(null, null, errors.fileno()),
                way_to=way_to_try,
            )
            errors.seek(0)
            messages = errors.read().decode(errors="replace").strip().splitlines()
    except (SandboxError, OSError) as error:
        return str(error).removeprefix(_NOT_MADE)
    if report.exit_status == 0:
        return ""
    if time.monotonic() - started >= _PROBE_SECONDS:
        raise SandboxError(
            f"the sandbox {Sandbox.NAMESPACES.value!r} could not be tried within "
            f"{_PROBE_SECONDS:g} s because the machine is busy: try again, or "
            "name the tier with COMPILER_GYM_SANDBOX"
        )
    last = messages[-1].removeprefix("bwrap: ") if messages else ""
    return explain_failure(last) or f"a program ended with status {report.exit_status}"


class _Order:
    """The arguments and the inherited descriptors of the helper."""

    def __init__(self, stack: ExitStack, helper: str, folder: Path, limits: RunLimits) -> None:
        self._stack = stack
        self._folder = folder
        self._limits = limits
        self._shown: list[str] = []
        self._given: list[Path] = []
        self._work: str | None = None
        self._scratch_bytes = 4 * limits.output_bytes
        self.words = [helper, f"--parent={os.getpid()}", *bounds(limits)]
        self.kept: list[int] = []

    def show(self, visible: Sequence[str | os.PathLike[str]]) -> None:
        """Let the program read `visible` and the paths in the user's environment variable."""
        paths = [
            *(os.fspath(path) for path in visible),
            *os.environ.get(_VISIBLE, "").split(os.pathsep),
        ]
        for path in filter(None, paths):
            for name in (os.path.abspath(path), os.path.realpath(path)):
                if not is_system(name) and name not in self._shown and os.path.exists(name):
                    self._shown.append(name)
        self.words += [f"--show={path}" for path in self._shown]

    def work_in(self, folder: Path) -> None:
        """Let the program work in a folder of the host, as the user that owns it."""
        self._work = str(folder)
        self.words += [f"--work={folder}", "--keep-user"]

    def copy(self, outputs: Path | None, collect: Sequence[str]) -> None:
        """Copy the input files to the program and its output files back."""
        self._scratch_bytes += _measure_folder(self._folder)
        self.words.append(f"--inputs={self._open(self._folder)}")
        if outputs is not None:
            self.words.append(f"--outputs={self._open(outputs)}")
            self.words += [f"--collect={name}" for name in collect]

    def join_group(self) -> ControlGroup | None:
        """Bound the sandbox with a control group, if one can be made."""
        limits = self._limits
        bounded = group_for(limits.total_memory_bytes, limits.processes)
        group = self._stack.enter_context(bounded)
        if group is not None:
            self.kept.append(group.descriptor)
            self.words.append(f"--group={group.descriptor}")
        return group

    def for_way(self, chosen_way: Way, sandbox: Sandbox, command: Sequence[str]) -> list[str]:
        """Return the complete command."""
        words = [*self.words, f"--scratch={self._scratch_bytes}"]
        if sandbox is not Sandbox.NAMESPACES or chosen_way == OWN:
            return [*words, f"--tier={sandbox.value}", "--", *command]
        return wrap_command(
            [*words, "--tier=inside", "--", *command],
            shown=self._shown,
            work=self._work,
            scratch_bytes=self._scratch_bytes,
        )

    def user(self, chosen_way: Way, in_place: bool) -> int | None:
        """Return the user that starts the sandbox, or None for the caller; give it the folders.

        Bubblewrap started by root cannot run a program as an unprivileged user.
        """
        if chosen_way == OWN or in_place or os.geteuid() != 0:
            return None
        try:
            for folder in self._given:
                for path in (folder, *folder.rglob("*")):
                    os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
        except OSError as error:
            raise SandboxError(explain_failure(f"become nobody: {error.strerror}")) from error
        return NOBODY

    def _open(self, path: Path) -> int:
        self._given.append(path)
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        self._stack.callback(os.close, descriptor)
        self.kept.append(descriptor)
        return descriptor


def bounds(limits: RunLimits) -> list[str]:
    """Return the helper's arguments for `limits` and for the files of the system."""
    return [
        f"--seconds={limits.seconds}",
        f"--cpu={int(limits.seconds) + 1}",
        f"--file={max(limits.output_bytes, 512)}",
        f"--memory={limits.memory_bytes}",
        f"--tree={limits.total_memory_bytes}",
        f"--processes={limits.processes}",
        f"--files={limits.open_files}",
        *(f"--system={path}" for path in SYSTEM),
        *(f"--device={path}" for path in DEVICES),
    ]


def read_report(
    process: "subprocess.Popen[bytes]",
    reading: int,
    seconds: float,
    stop: int | None = None,
    *,
    is_apart: bool,
    look: Callable[[], None] | None = None,
) -> bytes:
    """Return the helper's report line; end the helper after the time limit, or at `stop`.

    `look` is called about twice a second, and may raise; then the helper is ended, too.
    """
    report = b""
    end = time.monotonic() + seconds + _HELPER_GRACE_SECONDS
    try:
        poll = select.poll()
        poll.register(reading, select.POLLIN)
        if stop is not None:
            poll.register(stop, select.POLLIN)
        while (remaining := end - time.monotonic()) > 0:
            if look is not None:
                look()
            patience = remaining if look is None else min(remaining, _LOOK_SECONDS)
            events = dict(poll.poll(1000 * patience))
            if not events:
                continue
            if reading not in events:
                break
            part = os.read(reading, 1 << 12)
            if not part:
                break
            report += part
    finally:
        if not report.endswith(b"\n"):
            _end(process, is_apart=is_apart)
        process.wait()
    return report


def _end(process: "subprocess.Popen[bytes]", *, is_apart: bool) -> None:
    """End the helper with a signal, so that it ends its processes; kill it if necessary.

    In namespaces its processes end with it, so it is killed at once.
    """
    if is_apart:
        process.kill()
        return
    try:
        process.send_signal(signal.SIGTERM)
        process.wait(_HELPER_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()


def box_report(report: bytes, sandbox: Sandbox, group: ControlGroup | None) -> BoxReport:
    """Return the report for the helper's report line."""
    kind, *fields = report.decode(errors="replace").split() or [""]
    if kind == "ended":
        status, seconds, cpu, peak, stopped_by = fields
        passed = None if stopped_by == "-" else stopped_by
        if passed is None and group is not None:
            passed = group.find_passed_limit()
        return BoxReport(int(status), float(seconds), float(cpu), int(peak) * 1024, passed, sandbox)
    if kind == "failed":
        number, reason = int(fields[0]), " ".join(fields[1:])
        if reason.startswith("execute the program"):
            raise OSError(number, os.strerror(number))
        raise SandboxError(f"{_NOT_MADE}{explain_failure(reason)}")
    return BoxReport(-signal.SIGKILL, 0.0, 0.0, 0, "sandbox", sandbox)


def _measure_folder(folder: Path) -> int:
    """Return the bytes that the files of `folder` occupy, in whole pages."""
    sizes = (path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return sum((size + 4095) // 4096 * 4096 for size in sizes)
