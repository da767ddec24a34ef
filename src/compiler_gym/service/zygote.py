# SPDX-License-Identifier: MIT
"""A small process that has one compiler loaded and forks workers from itself.

It belongs to one client process. When the client ends, for any reason, the zygote ends every
worker, removes their files and exits. It never runs a session.
"""

import fcntl
import gc
import importlib
import os
import select
import shutil
import signal
import socket
import sys
import time
from pathlib import Path
from types import FrameType
from typing import NoReturn

import msgspec
from msgspec import Struct

from compiler_gym.errors import CompilerGymError, EnvironmentNotSupported, ServiceOSError
from compiler_gym.service.foreign import Carrier, LastLines, become_program
from compiler_gym.service.limits import (
    adopt_orphans,
    keep_freed_memory,
    list_children,
    read_address_space,
    wake_with_parent,
)
from compiler_gym.service.messages import encode
from compiler_gym.service.servicer import describe_session, report_failure
from compiler_gym.service.transport import Channel, ChannelClosed
from compiler_gym.service.worker import CLOSE_SECONDS, Worker
from compiler_gym.session import CompilerSession


class ZygoteJob(Struct):
    """The arguments of a zygote."""

    session: str
    """``"package.module:Class"`` of the session."""
    options: dict[str, str]
    client: int
    """The client's process id."""
    scratch: str
    """The directory for the files of workers; removed at the end."""
    path: list[str]
    """The client's module search path."""
    command: list[str] = []
    """The program that is the session, if any; there is no class then."""
    carrier: Carrier = Carrier.DESCRIPTOR
    """The transport of that program's messages."""
    python_path: str | None = None
    """The client's ``PYTHONPATH``, which a program needs."""
    shows: bool = False
    """True if the output of a program is shown, and not collected."""


class Spawn(Struct, array_like=True, tag=1):
    """Fork a worker that serves the socket sent with this message."""

    memory_bytes: int
    address: str = ""
    """The path of a socket that a program connects to, instead of the one sent."""


class Reap(Struct, array_like=True, tag=2):
    """Report how worker `pid` ended; end it first if `kill`."""

    pid: int
    kill: bool
    seconds: float


class Dismiss(Struct, array_like=True, tag=5):
    """End worker `pid` after some seconds unless it exits by itself."""

    pid: int


class Spawned(Struct, array_like=True, tag=3):
    """A worker runs as process `pid`."""

    pid: int


class Ended(Struct, array_like=True, tag=4):
    """The end of a worker, as `os.waitpid` reports it; None if it still runs."""

    status: int | None
    peak_bytes: int = 0
    """Approximate peak of its address space, without memory that it reserved and never used."""
    said: str = ""
    """The last lines of a program's output."""


_LEAVE_ROUNDS = 1000
_decode = msgspec.msgpack.Decoder(Spawn | Reap | Dismiss).decode


def main() -> None:
    """Run a zygote: its job is the first argument, its socket is descriptor 0."""
    gc.disable()
    job = msgspec.json.decode(sys.argv[1].encode(), type=ZygoteJob)
    control = socket.socket(fileno=os.dup(0))
    control.set_inheritable(False)
    wake_with_parent()
    owner = os.pidfd_open(job.client)
    _detach()
    keep_freed_memory()
    sys.path[:] = job.path
    channel = Channel(control)
    _end_with_peer(control, on=True)
    try:
        session_class = CompilerSession if job.command else _class_of_job(job)
        described = encode(describe_session(session_class))
    except BaseException as error:
        channel.send(encode(report_failure(_as_unsupported(error, job.session))))
        os._exit(1)
    _end_with_peer(control, on=False)
    zygote = _Zygote(channel, session_class, owner, job)
    gc.collect()
    gc.freeze()
    gc.enable()
    try:
        channel.send(described)
    except ChannelClosed:
        os._exit(1)
    zygote.serve()


def _class_of_job(job: ZygoteJob) -> type[CompilerSession]:
    return prepare_session_class(job.session, job.options)


def load_session_class(path: str) -> type[CompilerSession]:
    """Return the class at ``"package.module:Class"``."""
    module, _, name = path.partition(":")
    session_class = getattr(importlib.import_module(module), name)
    if not (isinstance(session_class, type) and issubclass(session_class, CompilerSession)):
        raise TypeError(f"{path} is not a CompilerSession")
    return session_class


def prepare_session_class(path: str, options: dict[str, str]) -> type[CompilerSession]:
    """Return the class for ``"package.module:Class"``, prepared with `options`."""
    session_class = load_session_class(path)
    return session_class.prepare(options) or session_class


class _Zygote:
    def __init__(
        self, channel: Channel, session_class: type[CompilerSession], owner: int, job: ZygoteJob
    ) -> None:
        self._channel = channel
        self._class = session_class
        self._owner = owner
        self._job = job
        self._scratch = Path(job.scratch)
        self._ended: dict[int, Ended] = {}
        self._printed: dict[int, LastLines] = {}
        self._pipes: dict[int, LastLines] = {}
        self._dismissed: dict[int, float] = {}
        self._poll = select.poll()
        self._signals, self._wakeup = os.pipe()
        os.set_blocking(self._wakeup, False)
        os.set_blocking(self._signals, False)
        signal.set_wakeup_fd(self._wakeup)
        signal.signal(signal.SIGCHLD, _wake_only)

    def serve(self) -> NoReturn:
        control = self._channel.socket.fileno()
        for descriptor in (control, self._owner, self._signals):
            self._poll.register(descriptor, select.POLLIN)
        while True:
            ready = {descriptor for descriptor, _ in self._poll.poll(self._patience())}
            for descriptor in ready & self._pipes.keys():
                self._hear(descriptor)
            if self._signals in ready:
                self._collect()
            if self._owner in ready:
                self._leave()
            if control in ready:
                try:
                    self._answer()
                except ChannelClosed:
                    self._leave()

    def _answer(self) -> None:
        payload, descriptor = self._channel.receive_with_descriptor()
        request = _decode(payload)
        if type(request) is Spawn:
            self._channel.send(encode(self._spawn(request, descriptor)))
            return
        if type(request) is Dismiss:
            if _is_child(request.pid):
                self._dismissed[request.pid] = time.monotonic() + CLOSE_SECONDS
            self._channel.send(encode(Ended(None)))
            return
        assert type(request) is Reap
        self._channel.send(encode(self._reap(request)))

    def _patience(self) -> float | None:
        """End overdue programs; return the milliseconds until the next deadline."""
        now = time.monotonic()
        for pid in [pid for pid, deadline in self._dismissed.items() if deadline <= now]:
            del self._dismissed[pid]
            if _is_child(pid):
                _end_group(pid)
        first = min(self._dismissed.values(), default=None)
        return None if first is None else 1000 * (first - now)

    def _hear(self, descriptor: int) -> None:
        """Read the output of a program; close the pipe when it has no writer left."""
        if not self._pipes[descriptor].take():
            self._poll.unregister(descriptor)
            os.close(descriptor)
            del self._pipes[descriptor]

    def _spawn(self, request: Spawn, descriptor: int | None) -> Struct:
        if descriptor is None and not request.address:
            return report_failure(
                ServiceOSError("the worker's socket did not arrive: too many open files")
            )
        zygote = os.getpid()
        reader = writer = None
        try:
            if self._job.command and not self._job.shows:
                reader, writer = os.pipe()
            pid = os.fork()
        except OSError as error:
            _close_all(descriptor, reader, writer)
            return report_failure(ServiceOSError(f"cannot start a worker: {error}"))
        if pid == 0:
            self._become_worker(request, descriptor, zygote, writer)
        _close_all(descriptor, writer)
        self._ended.pop(pid, None)
        if reader is not None:
            self._printed[pid] = self._pipes[reader] = LastLines(reader)
            self._poll.register(reader, select.POLLIN)
        return Spawned(pid)

    def _become_worker(
        self, request: Spawn, descriptor: int | None, zygote: int, printed: int | None
    ) -> NoReturn:
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            if self._job.command:
                self._become_program(request, descriptor, zygote, printed)
            assert descriptor is not None
            self._channel.close()
            for descriptor_of_zygote in (self._owner, self._signals, self._wakeup):
                os.close(descriptor_of_zygote)
            channel = Channel(socket.socket(fileno=descriptor))
            worker = Worker(channel, self._class, zygote=zygote, scratch=self._scratch)
            worker.run(request.memory_bytes)
        finally:
            os._exit(1)

    def _become_program(
        self, request: Spawn, descriptor: int | None, zygote: int, printed: int | None
    ) -> NoReturn:
        job = self._job
        os.environ.pop("PYTHONPATH")
        if job.python_path is not None:
            os.environ["PYTHONPATH"] = job.python_path
        become_program(
            job.command,
            job.carrier,
            request.address if descriptor is None else descriptor,
            scratch=self._scratch,
            zygote=zygote,
            memory_bytes=request.memory_bytes,
            printed=printed,
        )

    def _reap(self, request: Reap) -> Ended:
        pid = request.pid
        self._collect()
        if request.kill and pid in list_children(os.getpid()):
            _end_group(pid)
        poll = select.poll()
        for descriptor in (self._owner, self._signals):
            poll.register(descriptor, select.POLLIN)
        deadline = time.monotonic() + request.seconds
        while pid not in self._ended and (remaining := deadline - time.monotonic()) > 0:
            if any(descriptor == self._owner for descriptor, _ in poll.poll(remaining * 1000)):
                self._leave()
            self._collect()
        return self._ended.pop(pid, None) or Ended(None)

    def _collect(self) -> None:
        try:
            os.read(self._signals, 4096)
        except BlockingIOError:
            pass
        while (pid := _next_ended()) is not None:
            _end_group(pid)  # the worker's children; the id cannot be reused until it is reaped
            _, status, used = os.wait4(pid, 0)
            for path in self._scratch.glob(f"{pid}-*"):
                shutil.rmtree(path, ignore_errors=True)
            while len(self._ended) > 4096:
                del self._ended[next(iter(self._ended))]
            reserved, resident = (0, 0) if self._job.command else read_address_space(os.getpid())
            peak = reserved + max(1024 * used.ru_maxrss - resident, 0)  # a worker begins as a copy
            self._ended[pid] = Ended(status, peak, self._last_words(pid))

    def _last_words(self, pid: int) -> str:
        printed = self._printed.pop(pid, None)
        self._dismissed.pop(pid, None)
        if printed is None:
            return ""
        if printed.descriptor in self._pipes:
            self._hear(printed.descriptor)
        return printed.text

    def _leave(self) -> NoReturn:
        for _ in range(_LEAVE_ROUNDS):  # children of a worker become ours when it ends
            for pid in list_children(os.getpid()):
                _end_group(pid)
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                break
        shutil.rmtree(self._scratch, ignore_errors=True)
        try:
            self._scratch.parent.rmdir()
        except OSError:
            pass
        os._exit(0)


def _wake_only(number: int, frame: FrameType | None) -> None:
    """Do nothing: having a handler is enough to wake the poll."""


def _end_with_peer(control: socket.socket, *, on: bool) -> None:
    """While `on`, make the kernel end this process when the other end of `control` closes.

    Loading a compiler may take long, without polling. SIGIO ends a process by default, and the
    client sends nothing until it has our description.
    """
    fcntl.fcntl(control, fcntl.F_SETOWN, os.getpid())
    flags = fcntl.fcntl(control, fcntl.F_GETFL)
    fcntl.fcntl(control, fcntl.F_SETFL, flags | os.O_ASYNC if on else flags & ~os.O_ASYNC)
    hung_up = select.poll()
    hung_up.register(control, 0)
    if hung_up.poll(0):  # it closed before the signal was set up
        os._exit(1)


def _detach() -> None:
    adopt_orphans()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN if number != signal.SIGTERM else signal.SIG_DFL)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    if null > 2:
        os.close(null)


def _close_all(*descriptors: int | None) -> None:
    for descriptor in descriptors:
        if descriptor is not None:
            os.close(descriptor)


def _next_ended() -> int | None:
    try:
        child = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    return None if child is None else child.si_pid


def _is_child(pid: int) -> bool:
    """Return whether process `pid` is a child of this one that was not waited for."""
    try:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _end_group(pid: int) -> None:
    for end, number in ((os.killpg, signal.SIGKILL), (os.kill, signal.SIGKILL)):
        try:
            end(pid, number)
        except (ProcessLookupError, PermissionError):
            pass


def _as_unsupported(error: BaseException, session: str) -> CompilerGymError:
    if isinstance(error, CompilerGymError):
        return error
    return EnvironmentNotSupported(
        f"the session {session} cannot be loaded: {type(error).__name__}: {error}"
    )


if __name__ == "__main__":
    main()
