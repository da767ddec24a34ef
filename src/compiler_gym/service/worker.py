# SPDX-License-Identifier: MIT
"""The life of a worker process: read requests and answer them until the owner closes.

A worker is forked from a zygote that has the compiler loaded, or from another worker when an
environment is forked. It never starts anything by itself. It has no terminal: it collects the
warnings of its session, the next reply carries them, and the client raises them again.

The copy of a worker is a child of the worker's parent, so it does not depend on its origin: the
parent, which outlives both, reaps it. The kernel can do this in one step, but only in a
single-threaded process, because the C library does not take part; otherwise it takes two forks,
the first of which ends at once so that the second is adopted.
"""

import ctypes
import errno
import logging
import math
import os
import platform
import resource
import signal
import socket
import struct
import time
import warnings
from pathlib import Path
from time import monotonic, process_time
from typing import Any, NoReturn

from compiler_gym._service import current_core
from compiler_gym.errors import ServiceOSError, ServiceTransportError, warning_from_name
from compiler_gym.service.limits import (
    OUT_OF_MEMORY_STATUS,
    bind_to_parent,
    end_within,
    give_back_memory,
    limit_memory,
    work_in_batches,
)
from compiler_gym.service.messages import (
    Failed,
    Fork,
    Forked,
    Reply,
    Start,
    Started,
    Step,
    Stepped,
    decode_request,
    encode,
)
from compiler_gym.service.servicer import Servicer, report_failure
from compiler_gym.service.transport import Channel, ChannelClosed
from compiler_gym.session import CompilerSession

CLOSE_SECONDS = 3
"""Seconds that a session may take to close before the kernel ends its worker."""

AWAKE_SECONDS = 2e-3
"""Seconds that a worker polls for the next request before it sleeps, if it has a core alone. In a
virtual machine, a core that was idle for a third of a millisecond runs the next pass at two thirds
of its speed."""

IDLE_SECONDS = 1.0
"""Seconds without a step after which a worker returns freed memory to the kernel."""

_READY = b"\x01"


class Worker:
    """A process that serves one session over one channel."""

    def __init__(
        self,
        channel: Channel,
        session_class: type[CompilerSession],
        *,
        zygote: int,
        scratch: Path,
    ) -> None:
        self._channel = channel
        self._zygote = zygote
        self._scratch = scratch
        self._directories = 0
        self._servicer = Servicer(session_class, self._new_directory)
        self._warnings = WarningCollector()

    def run(self, memory_bytes: int) -> None:
        """Answer requests until the client closes its end, then end the process."""
        stand_alone(self._zygote, memory_bytes)
        self.serve()

    def serve(self) -> NoReturn:
        """Answer requests like `run`, in a process that already has its limits."""
        self._warnings.install()
        self._serve_and_leave()

    def _serve_and_leave(self) -> NoReturn:
        try:
            self._serve()
        except ChannelClosed:
            pass
        except MemoryError:
            os._exit(OUT_OF_MEMORY_STATUS)  # closing a session needs memory too
        end_within(CLOSE_SECONDS)
        self._servicer.stop(leaves=True)
        os._exit(0)

    def _serve(self) -> None:
        channel, servicer = self._channel, self._servicer
        receive, send = channel.receive, channel.send
        handle, step = servicer.handle, servicer.step
        awake_seconds, idle_at = AWAKE_SECONDS, math.inf
        while True:
            try:
                request = decode_request(receive(idle_at, awake_seconds))
            except TimeoutError:
                give_back_memory()  # passes free as much as the program itself takes
                idle_at = math.inf
                continue
            except ValueError as error:
                send(encode(report_failure(ServiceTransportError(str(error)), recoverable=True)))
                continue
            except OSError as error:
                if error.errno == errno.ENOMEM:
                    raise MemoryError from error
                raise
            idle_at = math.inf
            if type(request) is Step:
                awake_seconds = AWAKE_SECONDS if request.stay_awake else 0.0
                began = monotonic()
                reply = step(request)
                idle_at = began + IDLE_SECONDS
                if type(reply) is Stepped:
                    reply.core, reply.seconds = current_core(), monotonic() - began
                    reply.is_crowded = channel.is_crowded
            elif type(request) is Fork:
                self._fork(request)
                awake_seconds = 0.0  # the copy needs the core
                continue
            elif type(request) is Start:
                began = _processor_seconds()
                reply = handle(request)
                if type(reply) is Started:
                    reply.seconds = _processor_seconds() - began
            else:
                reply = handle(request)
            if type(reply) is Failed and reply.kind == "WorkerOutOfMemoryError":
                raise MemoryError  # the exit status reports it, and the client knows the limit
            send(self._encode(reply))
            if type(reply) is Failed and not reply.recoverable:
                _leave_if_poisoned(reply)

    def _encode(self, reply: Reply) -> bytes:
        self._warnings.load(reply)
        try:
            return encode(reply)
        except (TypeError, ValueError, OverflowError) as error:
            return encode(
                Failed("SessionError", f"the session returned a value that is not plain: {error}")
            )

    def _fork(self, request: Fork) -> None:
        """Fork this process and send the client a socket to the copy.

        The copy is a child of the zygote, which reaps it and ends it when it ends itself, and not
        of this worker, which may close first.
        """
        self._servicer.remember(request.observations)
        try:
            client_end, pid = self._split(stays=request.stays)
        except OSError as error:
            self._channel.send(encode(report_failure(ServiceOSError(f"cannot fork: {error}"))))
            return
        with client_end:
            self._channel.send_with_descriptor(encode(Forked(pid)), client_end.fileno())

    def _split(self, *, stays: bool) -> tuple[socket.socket, int]:
        """Return a socket to a copy of this process that is ready to serve, and its process id."""
        # Check this first: we may create files while a slow copy is still starting.
        has_files = self._servicer.has_files
        copy_end, client_end = socket.socketpair()
        with copy_end:
            try:
                pid = fork_sibling(self._zygote, copy_end.fileno())
                if pid == 0:
                    self._become(copy_end, client_end, has_files, stays=stays)
                copy_end.close()
                _await(client_end, 2 if has_files else 1)
            except BaseException:
                client_end.close()
                raise
        return client_end, pid

    def _become(
        self, copy_end: socket.socket, client_end: socket.socket, has_files: bool, *, stays: bool
    ) -> NoReturn:
        try:
            self._channel.close()
            client_end.close()
            self._channel = Channel(copy_end)
            self._servicer.move_files(has_files)
            if has_files:
                copy_end.sendall(_READY)
            if stays:
                give_back_memory()
            self._serve_and_leave()
        finally:
            os._exit(1)

    def _new_directory(self) -> Path:
        self._directories += 1
        return self._scratch / f"{os.getpid()}-{self._directories}"


def stand_alone(zygote: int, memory_bytes: int) -> None:
    """Make this process, forked by the zygote, a worker: it ends with it and has limits."""
    os.setsid()
    bind_to_parent(zygote)
    try:
        limit_memory(memory_bytes)
    except MemoryError:
        os._exit(OUT_OF_MEMORY_STATUS)
    work_in_batches()
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _processor_seconds() -> float:
    """Return the processor time of this process and its reaped children."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time() + children.ru_utime + children.ru_stime


def _await(client_end: socket.socket, count: int) -> None:
    """Wait until the copy is detached, and then until it has copied its files, if any."""
    for _ in range(count):
        if client_end.recv(len(_READY)) != _READY:
            raise ServiceOSError("the copy of the worker ended before it was ready")


def _leave_if_poisoned(reply: Failed) -> None:
    """End the process after a failure that may have damaged the compiler's own state."""
    if reply.kind == "CompilerFatalError":
        os._exit(0)


_Warning = tuple[str, str]
_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}
_log = logging.getLogger("compiler_gym.service")


class WarningCollector:
    """Collects the warnings of this process, each text once, until a reply can carry them."""

    def __init__(self) -> None:
        self._waiting: list[_Warning] = []
        self._given: set[_Warning] = set()

    def install(self) -> None:
        """Collect warnings from now on, regardless of the warning filters of the owner."""
        warnings.simplefilter("default")
        warnings.showwarning = self._take

    def load(self, reply: Reply) -> None:
        """Attach pending warnings to `reply`, if it is of a kind that carries them."""
        if self._waiting and isinstance(reply, (Started, Stepped)):
            reply.warnings, self._waiting = self._waiting, []

    def _take(self, message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        warning = (category.__name__, str(message))
        if warning not in self._given:
            self._given.add(warning)
            self._waiting.append(warning)


def give_again(collected: list[_Warning]) -> None:
    """Raise each warning in the user's process; texts with a log level are logged."""
    for name, text in collected:
        if name in _LEVELS:
            _log.log(_LEVELS[name], text)
        else:
            warnings.warn(warning_from_name(name, text), stacklevel=2)


_CLONE_PARENT = 0x8000
_CLONE_NUMBERS = {"x86_64": 56, "aarch64": 220, "riscv64": 220}
"""The number of the system call; all other arguments are zero, so their order does not matter."""
_PR_SET_PDEATHSIG = 1

_libc = ctypes.PyDLL(None, use_errno=True)  # keeps the interpreter's lock, as a fork must
_libc.syscall.restype = ctypes.c_long
_PID = struct.Struct("<q")
_PAUSE = 0.0002


def fork_sibling(parent: int, ready: int) -> int:
    """Return the process id of the copy, or 0 in the copy.

    `parent` must be this process's parent and adopt orphans among its descendants. The copy
    leads a new session and ends with `parent`; once both are set up it writes a byte to the
    descriptor `ready`. Raises `OSError` if the kernel refuses. A copy whose parent has ended
    meanwhile ends too.
    """
    number = _CLONE_NUMBERS.get(platform.machine())
    if number is None or len(os.listdir("/proc/self/task")) > 1:
        return _fork_twice(parent, ready)
    return _clone(number, parent, ready)


def _clone(number: int, parent: int, ready: int) -> int:
    python = ctypes.pythonapi
    python.PyOS_BeforeFork()
    child = _libc.syscall(number, _CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0)
    if child == 0:
        _stand_alone(parent, ready)  # first, because our origin waits for it
        python.PyOS_AfterFork_Child()
        return 0
    error = ctypes.get_errno()
    python.PyOS_AfterFork_Parent()
    if child < 0:
        raise OSError(error, os.strerror(error))
    return child


def _fork_twice(parent: int, ready: int) -> int:
    reader, writer = os.pipe()
    try:
        middle = os.fork()
        if middle == 0:
            first = os.getpid()
            child = _fork_or_leave(writer)
            if child == 0:
                os.close(reader)
                os.close(writer)
                reader = writer = -1
                while os.getppid() == first:  # it is about to end, and then we are adopted
                    time.sleep(_PAUSE)
                _stand_alone(parent, ready)
                return 0
            os.write(writer, _PID.pack(child))
            os._exit(0)
        os.waitpid(middle, 0)
        (child,) = _PID.unpack(os.read(reader, _PID.size))
    finally:
        for descriptor in (reader, writer):
            if descriptor >= 0:
                os.close(descriptor)
    if child < 0:
        raise OSError(-child, os.strerror(-child))
    return child


def _fork_or_leave(writer: int) -> int:
    try:
        return os.fork()
    except OSError as error:
        os.write(writer, _PID.pack(-(error.errno or 1)))
        os._exit(0)


def _stand_alone(parent: int, ready: int) -> None:
    _libc.setsid()
    # Only once it is the parent's child: the end of another parent would kill it.
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)
    os.write(ready, b"\x01")
