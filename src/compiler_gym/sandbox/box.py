# SPDX-License-Identifier: MIT
"""Run one command in a box and say how it ended.

The helper (``native/src/box``) makes the box, watches it and writes one line at the end. It
ends with this process, and what is in the box ends with it. Files come to the program by
being copied into its folder, and back by being copied out of it: it never holds a folder of
the host.
"""

import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from compiler_gym.errors import SandboxError
from compiler_gym.files import scratch_directory
from compiler_gym.sandbox.groups import Group, group_for
from compiler_gym.sandbox.paths import DEVICES, SYSTEM, is_system
from compiler_gym.sandbox.reasons import explained
from compiler_gym.sandbox.tiers import Sandbox, way
from compiler_gym.sandbox.ways import NOBODY, OWN, Way, find_helper, wrapped

__all__ = ["FOLDER", "BoxReport", "RunLimits", "Workplace", "run_boxed", "try_way"]

FOLDER = "/box"
"""Where a program works that has a machine of its own."""

_PATIENCE = 20.0
"""Seconds beyond the limit after which the helper itself is ended."""
_VISIBLE = "COMPILER_GYM_SANDBOX_VISIBLE"
_COUNTERS = ("perf",)
_NOT_MADE = "cannot make the sandbox: "
_PROBE_SECONDS = 60.0
"""So long that a machine which is only slow does not get a weaker tier."""


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
    """Processes and threads alive at a time."""
    total_memory_bytes: int = 4 << 30
    """Memory in use by all processes and the files of the scratch folder; 0: unbounded."""
    open_files: int = 256
    """Files that one process has open at a time, with the ends of its pipes."""


@dataclass(frozen=True, slots=True)
class BoxReport:
    """How a command ended."""

    exit_status: int
    """The status it exited with, or minus the signal that ended it."""
    seconds: float
    """Wall time from the start of the program to its end."""
    cpu_seconds: float
    """Processor time of the program and the children it waited for."""
    peak_bytes: int
    """The most memory that one process held."""
    stopped_by: str | None
    """The limit it was ended at: ``time``, ``output``, ``memory`` or ``processes``; ``sandbox``
    where it ended the box that held it."""
    sandbox: Sandbox
    """What it was kept from."""


@dataclass(frozen=True, slots=True)
class Workplace:
    """Which files of the host a program has.

    With namespaces it works in `FOLDER` on copies, unless `in_place`; otherwise in `folder` itself.
    """

    folder: Path
    """The files that it is given."""
    outputs: Path | None = None
    """Where those that it is to leave are written as ``0``, ``1``, ..., if it had copies."""
    collect: Sequence[str] = ()
    """The names of these."""
    visible: Sequence[str | os.PathLike[str]] = ()
    """What it may read besides the system's: the program itself, above all. Words of the command
    are not among them: some may come with the program."""
    in_place: bool = False
    """Whether it works in `folder` in any case, and as the user who asks."""
    directory: Path | None = None
    """Where it starts, if not in its folder."""


def run_boxed(
    command: Sequence[str],
    place: Workplace,
    *,
    sandbox: Sandbox,
    limits: RunLimits,
    environment: Mapping[str, str],
    streams: tuple[int, int, int],
    way_to: Way | None = None,
) -> BoxReport:
    """Run `command` at `place` and return how it ended.

    Raises `SandboxError` where the box cannot be made, and `OSError` where the program
    cannot be started.
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
        said = _said_by(process, reading, limits.seconds)
        return _report(said, sandbox, group)


def try_way(one: Way) -> str:
    """Return why no program runs in namespaces made this way; empty where one does.

    Raises `SandboxError` where the machine takes too long to say.
    """
    started = time.monotonic()
    try:
        helper = find_helper()
        with (
            scratch_directory("probe") as directory,
            open(os.devnull, "r+b") as nothing,
            tempfile.TemporaryFile() as errors,
        ):
            at = nothing.fileno()
            report = run_boxed(
                [helper, "nothing"],
                Workplace(Path(directory), visible=[helper]),
                sandbox=Sandbox.NAMESPACES,
                limits=RunLimits(seconds=_PROBE_SECONDS),
                environment={},
                streams=(at, at, errors.fileno()),
                way_to=one,
            )
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip().splitlines()
    except (SandboxError, OSError) as error:
        return str(error).removeprefix(_NOT_MADE)
    if report.exit_status == 0:
        return ""
    if time.monotonic() - started >= _PROBE_SECONDS:
        raise SandboxError(
            f"the sandbox {Sandbox.NAMESPACES.value!r} was not tried out within "
            f"{_PROBE_SECONDS:g} s: the machine is too busy to say whether it works: try again, or "
            "name the tier with COMPILER_GYM_SANDBOX"
        )
    last = said[-1].removeprefix("bwrap: ") if said else ""
    return explained(last) or f"a program ended with status {report.exit_status}"


class _Order:
    """What the helper is told, and the descriptors that it gets."""

    def __init__(self, stack: ExitStack, helper: str, folder: Path, limits: RunLimits) -> None:
        self._stack = stack
        self._folder = folder
        self._limits = limits
        self._shown: list[str] = []
        self._given: list[Path] = []
        self._work: str | None = None
        self._scratch_bytes = 4 * limits.output_bytes
        self.words = [helper, f"--parent={os.getpid()}", *_bounds(limits)]
        self.kept: list[int] = []

    def show(self, visible: Sequence[str | os.PathLike[str]]) -> None:
        """Let the program read `visible` and what the user's environment names."""
        named = [
            *(os.fspath(path) for path in visible),
            *os.environ.get(_VISIBLE, "").split(os.pathsep),
        ]
        for path in filter(None, named):
            for one in (os.path.abspath(path), os.path.realpath(path)):
                if not is_system(one) and one not in self._shown and os.path.exists(one):
                    self._shown.append(one)
        self.words += [f"--show={path}" for path in self._shown]

    def work_in(self, folder: Path) -> None:
        """Let the program work in a folder of the host, as the user that owns it."""
        self._work = str(folder)
        self.words += [f"--work={folder}", "--keep-user"]

    def copy(self, outputs: Path | None, collect: Sequence[str]) -> None:
        """Let the program have copies of the input files, and take those of its outputs."""
        self._scratch_bytes += _size_of(self._folder)
        self.words.append(f"--inputs={self._opened(self._folder)}")
        if outputs is not None:
            self.words.append(f"--outputs={self._opened(outputs)}")
            self.words += [f"--collect={name}" for name in collect]

    def join_group(self) -> Group | None:
        """Bound the box by a control group, where one may be made."""
        limits = self._limits
        made = group_for(limits.total_memory_bytes, limits.processes)
        group = self._stack.enter_context(made)
        if group is not None:
            self.kept.append(group.descriptor)
            self.words.append(f"--group={group.descriptor}")
        return group

    def for_way(self, chosen_way: Way, sandbox: Sandbox, command: Sequence[str]) -> list[str]:
        """Return the whole command."""
        words = [*self.words, f"--scratch={self._scratch_bytes}"]
        if sandbox is not Sandbox.NAMESPACES or chosen_way == OWN:
            return [*words, f"--tier={sandbox.value}", "--", *command]
        return wrapped(
            [*words, "--tier=inside", "--", *command],
            shown=self._shown,
            work=self._work,
            scratch_bytes=self._scratch_bytes,
        )

    def user(self, chosen_way: Way, in_place: bool) -> int | None:
        """Return who starts the box, if not who asks, and give that user the box's folders.

        Bubblewrap cannot make nobody of a program that root starts.
        """
        if chosen_way == OWN or in_place or os.geteuid() != 0:
            return None
        try:
            for folder in self._given:
                for path in (folder, *folder.rglob("*")):
                    os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
        except OSError as error:
            raise SandboxError(explained(f"become nobody: {error.strerror}")) from error
        return NOBODY

    def _opened(self, path: Path) -> int:
        self._given.append(path)
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        self._stack.callback(os.close, descriptor)
        self.kept.append(descriptor)
        return descriptor


def _bounds(limits: RunLimits) -> list[str]:
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


def _said_by(process: "subprocess.Popen[bytes]", reading: int, seconds: float) -> bytes:
    """Return the line of the helper; it is ended where it gives none in time."""
    said = b""
    end = time.monotonic() + seconds + _PATIENCE
    try:
        poll = select.poll()
        poll.register(reading, select.POLLIN)
        while poll.poll(1000 * max(end - time.monotonic(), 0)):
            part = os.read(reading, 1 << 12)
            if not part:
                break
            said += part
    finally:
        if not said.endswith(b"\n"):
            _end(process)
        process.wait()
    return said


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a helper that was interrupted; it is asked first, so that it ends what it started."""
    try:
        process.send_signal(signal.SIGTERM)
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()


def _report(said: bytes, sandbox: Sandbox, group: Group | None) -> BoxReport:
    kind, *words = said.decode(errors="replace").split() or [""]
    if kind == "ended":
        status, seconds, cpu, peak, stopped_by = words
        passed = None if stopped_by == "-" else stopped_by
        if passed is None and group is not None:
            passed = group.passed()
        return BoxReport(int(status), float(seconds), float(cpu), int(peak) * 1024, passed, sandbox)
    if kind == "failed":
        number, why = int(words[0]), " ".join(words[1:])
        if why.startswith("execute the program"):
            raise OSError(number, os.strerror(number))
        raise SandboxError(f"{_NOT_MADE}{explained(why)}")
    return BoxReport(-signal.SIGKILL, 0.0, 0.0, 0, "sandbox", sandbox)


def _size_of(folder: Path) -> int:
    """Return the bytes that the files of `folder` take, in whole pages."""
    sizes = (path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return sum((size + 4095) // 4096 * 4096 for size in sizes)
