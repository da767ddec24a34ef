# SPDX-License-Identifier: MIT
"""Owns the zygotes of this process: one for each compiler and its options.

A zygote is started on first use and serves every environment of the process,
from any thread. A forked child of the client gets none of them: it closes what
it inherited and starts its own.
"""

import atexit
import os
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from compiler_gym.errors import (
    EnvironmentNotSupported,
    InvalidParameterError,
    ServiceError,
    ServiceInitError,
    ServiceIsClosed,
    ServiceOSError,
    ServiceTransportError,
    error_from_name,
)
from compiler_gym.errors.nearest import unknown_name
from compiler_gym.files import new_scratch, scratch_directory
from compiler_gym.service.checks import printable, require_answer
from compiler_gym.service.foreign import SESSION, Carrier
from compiler_gym.service.kept_programs import KeptPrograms
from compiler_gym.service.limits import find_parent, read_address_space
from compiler_gym.service.messages import PROTOCOL, Description, Failed, Hello, Reply, encode
from compiler_gym.service.transport import Channel, ChannelClosed
from compiler_gym.service.zygote import Dismiss, Ended, Reap, Spawn, Spawned, ZygoteJob

START_SECONDS = 60.0
"""The deadline of a zygote's start: loading a compiler on a busy machine takes time."""

_decode = msgspec.msgpack.Decoder(Reply | Spawned | Ended).decode
_zygotes: dict["SessionSource", "ZygoteHandle"] = {}
_lock = threading.RLock()
_CARRIERS = tuple(carrier.value for carrier in Carrier)
_T = TypeVar("_T", Spawned, Ended)


@dataclass(frozen=True, slots=True)
class SessionSource:
    """A session class to serve and its options."""

    session: str
    """``"package.module:Class"``; for a program, its name in messages."""
    options: tuple[tuple[str, str], ...] = field(default=())
    command: tuple[str, ...] = ()
    """The program (in any language) that is the session, and its arguments."""
    carrier: Carrier = Carrier.DESCRIPTOR
    """The transport of that program's messages."""

    @classmethod
    def of_program(
        cls, command: Sequence[str], carrier: Carrier | str = Carrier.DESCRIPTOR
    ) -> "SessionSource":
        """Return the source of sessions that are processes of the program `command`.

        A path as the first argument is relative to the current working directory.

        Raises:
            InvalidParameterError: `command` is not a list of arguments, or the carrier is unknown.
        """
        parts = [] if isinstance(command, str) else [os.fspath(part) for part in command]
        if not parts or not parts[0]:
            raise InvalidParameterError(
                f'a service must be a list of arguments, such as ["./my-service"] (got {command!r})'
            )
        try:
            transport = Carrier(carrier)
        except ValueError:
            raise InvalidParameterError(unknown_name("carrier", str(carrier), _CARRIERS)) from None
        name = shlex.join(parts)
        if os.sep in parts[0]:
            parts[0] = os.path.abspath(parts[0])
        return cls(name, command=tuple(parts), carrier=transport)


class ZygoteHandle:
    """The client's handle on a zygote process."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        channel: Channel,
        scratch: Path,
        source: SessionSource,
    ) -> None:
        self._process = process
        self._source = source
        self._scratch = scratch
        self._channel: Channel | None = channel
        self._lock = threading.Lock()
        self.description: Description | None = None
        self._loaded = 0
        self.programs: KeptPrograms[Any] = KeptPrograms(process.pid)
        """The programs that its workers keep loaded."""

    @classmethod
    def start(cls, source: SessionSource) -> "ZygoteHandle":
        """Start a zygote, which then loads its compiler; see `wait_until_ready`."""
        scratch = new_scratch("workers")
        job = ZygoteJob(
            session=source.session,
            options=dict(source.options),
            client=os.getpid(),
            scratch=str(scratch),
            path=_search_path(),
            command=list(source.command),
            carrier=source.carrier,
            python_path=os.environ.get("PYTHONPATH"),
            shows=_is_debugging(),
        )
        client_end, zygote_end = _socket_pair()
        with zygote_end:
            try:
                process = _launch(job, zygote_end)
            except BaseException:
                client_end.close()
                raise
        return cls(process, Channel(client_end), scratch, source)

    def wait_until_ready(self) -> Description:
        """Return the description of the compiler's sessions as soon as it is loaded."""
        if self.description is None:
            try:
                self.description = self._receive_description()
            except BaseException:
                self.close()
                raise
        return self.description

    @property
    def is_alive(self) -> bool:
        """True if the process runs and this process may use it."""
        return self._channel is not None and self._process.poll() is None

    def spawn(self, memory_bytes: int) -> tuple[Channel, int]:
        """Return a channel to a new worker and its process number."""
        if self._source.carrier is Carrier.SOCKET:
            return self._spawn_and_accept(memory_bytes)
        client_end, worker_end = _socket_pair()
        try:
            with worker_end:
                reply = self._ask(Spawn(memory_bytes), Spawned, worker_end.fileno())
        except BaseException:
            client_end.close()
            raise
        return Channel(client_end), reply.pid

    def _spawn_and_accept(self, memory_bytes: int) -> tuple[Channel, int]:
        """Return a channel to a program that connects to a socket of this process."""
        with socket.socket(socket.AF_UNIX) as listener, scratch_directory("socket") as folder:
            address = f"{folder}/s"  # short: the kernel allows about a hundred characters
            listener.bind(address)
            listener.listen(1)
            pid = self._ask(Spawn(memory_bytes, address), Spawned).pid
            if _ends_before_it_connects(pid, listener):
                client_end, other_end = _socket_pair()
                other_end.close()  # the next request fails, and reports how the program ended
                return Channel(client_end), pid
            listener.setblocking(False)
            try:
                return Channel(listener.accept()[0]), pid
            except BlockingIOError:
                self.reap(pid, kill=True)
                raise ServiceInitError(
                    f"{self._source.session} did not connect to the Unix socket that "
                    f"{SESSION} names within {START_SECONDS:.0f} s"
                ) from None

    def dismiss(self, pid: int) -> None:
        """End a worker whose channel was closed, unless it exits by itself."""
        if self._channel is None:
            return
        with suppress(ServiceError):  # the worker ended with its zygote
            self._ask(Dismiss(pid), Ended)

    def reap(self, pid: int, *, kill: bool, seconds: float = 2.0) -> Ended:
        """Return how worker `pid` ended; the status is None if it still runs."""
        return self._ask(Reap(pid, kill, seconds), Ended)

    @property
    def loaded_bytes(self) -> int:
        """The address space that the compiler takes before it loads a program."""
        return self._loaded or read_address_space(self._process.pid)[0]

    def require_new(self, pid: int, others: set[int]) -> None:
        """Raise `ServiceTransportError` if process `pid` cannot be the new copy of a worker."""
        if pid in others or find_parent(pid) not in (0, self._process.pid):
            raise ServiceTransportError(f"the process {pid} is not a new copy of the worker")

    def close(self) -> None:
        """End the zygote and with it every worker."""
        self.programs.clear()
        channel, self._channel = self._channel, None
        if channel is not None:
            channel.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            with suppress(subprocess.TimeoutExpired):  # an interrupt may have left it locked
                self._process.wait(timeout=5)
        if self._process.returncode != 0:  # it did not clean up after itself
            shutil.rmtree(self._scratch, ignore_errors=True)

    def forget(self) -> None:
        """Drop everything that a forked child inherited, without using the process."""
        channel, self._channel = self._channel, None
        self._lock = threading.Lock()
        self.programs.forget()
        if channel is not None:
            channel.close()
        self._process.returncode = 0  # a child of the parent: never wait for it here

    def _ask(
        self, request: msgspec.Struct, expected: type[_T], descriptor: int | None = None
    ) -> _T:
        with self._lock:
            channel = self._channel
            if channel is None:
                raise ServiceIsClosed("the compiler's process was closed")
            deadline = time.monotonic() + START_SECONDS
            try:
                if descriptor is None:
                    channel.send(encode(request))
                else:
                    channel.send_with_descriptor(encode(request), descriptor)
                reply = _decode(channel.receive(deadline))
            except (ChannelClosed, OSError, ValueError) as error:
                self._channel = None
                channel.close()
                raise ServiceInitError(f"the compiler's process has ended: {error!r}") from error
            except BaseException:
                self._channel = None  # a late answer must not be read as the next one
                channel.close()
                raise
        if isinstance(reply, expected):
            return reply
        if isinstance(reply, Failed):
            raise ServiceOSError(reply.message)
        raise ServiceInitError(f"expected {expected.__name__}, got {type(reply).__name__}")

    def _receive_description(self) -> Description:
        channel, source = self._channel, self._source
        assert channel is not None
        try:
            reply = _decode(channel.receive(time.monotonic() + START_SECONDS))
        except ChannelClosed:
            status = self._process.wait()
            raise ServiceInitError(
                f"the process for {source.session} ended with status {status} while starting; "
                "set COMPILER_GYM_DEBUG=1 to see what it prints"
            ) from None
        except TimeoutError:
            raise ServiceInitError(
                f"the process for {source.session} was not ready after {START_SECONDS:.0f} s"
            ) from None
        except (OSError, ValueError) as error:
            raise ServiceTransportError(
                f"the process for {source.session} sent a malformed message: {error}"
            ) from error
        if isinstance(reply, Failed):
            raise error_from_name(reply.kind, reply.message)
        description = self._greet(source) if source.command else reply
        if isinstance(description, Description):
            protocol = description.protocol
        else:
            raise ServiceTransportError(f"expected Description, got {type(description).__name__}")
        if protocol != PROTOCOL:
            raise EnvironmentNotSupported(
                f"{source.session} speaks protocol {protocol}, but protocol {PROTOCOL} is needed"
            )
        require_answer(description, Hello([]))
        return description

    def _greet(self, source: SessionSource) -> Description:
        """Return the program's description of itself, from a process that is ended afterwards."""
        channel, pid = self.spawn(0)
        expected = f"expected a reply to Hello via {SESSION} ({source.carrier.value})"
        deadline = time.monotonic() + START_SECONDS
        try:
            channel.send(encode(Hello([PROTOCOL], ["descriptors"])), deadline)
            reply = _decode(channel.receive(deadline))
            self._loaded = read_address_space(pid)[0]
        except TimeoutError:
            end = self.reap(pid, kill=True)
            raise ServiceInitError(
                f"{source.session} did not answer within {START_SECONDS:.0f} s: "
                f"{expected}{last_words(end)}"
            ) from None
        except (RecursionError, TypeError, ValueError) as error:
            end = self.reap(pid, kill=True)
            raise ServiceTransportError(
                f"{source.session} sent a malformed message ({error}): {expected}; does it print "
                f"to the stream that carries its messages?{last_words(end)}"
            ) from error
        except OSError as error:
            end = self.reap(pid, kill=False)
            if end.status is None:
                end = Ended(None, said=self.reap(pid, kill=True).said)
            outcome = "" if end.status is None else f": it {describe_status(end.status)}"
            raise ServiceInitError(
                f"{source.session} did not start{outcome}; {expected}{last_words(end)}"
            ) from error
        finally:
            channel.close()
            self.dismiss(pid)
        if isinstance(reply, Description):
            return reply
        if isinstance(reply, Failed):
            require_answer(reply, Hello([]))
            raise error_from_name(reply.kind, f"{source.session}: {reply.message}")
        raise ServiceTransportError(f"{expected}, got {type(reply).__name__}")


def zygote_for(source: SessionSource) -> ZygoteHandle:
    """Return this process's zygote for `source` when its compiler is loaded."""
    with _lock:
        zygote = start_zygote(source)
        zygote.wait_until_ready()
        return zygote


def start_zygote(source: SessionSource) -> ZygoteHandle:
    """Return this process's zygote for `source`, which may not have loaded its compiler yet."""
    with _lock:
        zygote = _zygotes.get(source)
        if zygote is None or not zygote.is_alive:
            if zygote is not None:
                zygote.close()
            zygote = _zygotes[source] = ZygoteHandle.start(source)
        return zygote


def shut_down() -> None:
    """End every zygote of this process. The next environment starts a new one."""
    with _lock:
        zygotes = list(_zygotes.values())
        _zygotes.clear()
    for zygote in zygotes:
        zygote.close()


def describe_status(status: int) -> str:
    """Return a phrase for a wait status, to end a sentence."""
    if os.WIFSIGNALED(status):
        return f"was ended by {signal.Signals(os.WTERMSIG(status)).name}"
    return f"ended with exit status {os.WEXITSTATUS(status)}"


def last_words(ended: Ended) -> str:
    """Return the last lines of a program's output, to end a message."""
    return (
        f"; its last lines:\n{textwrap.indent(printable(ended.said), '  ')}" if ended.said else ""
    )


def _ends_before_it_connects(pid: int, listener: socket.socket) -> bool:
    """Wait at most `START_SECONDS` for `pid` to connect; return True if it ended instead."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        poll = select.poll()
        poll.register(process, select.POLLIN)
        poll.register(listener, select.POLLIN)
        ready = {descriptor for descriptor, _ in poll.poll(1000 * START_SECONDS)}
        return bool(ready) and listener.fileno() not in ready
    finally:
        os.close(process)


def _is_debugging() -> bool:
    return os.environ.get("COMPILER_GYM_DEBUG", "0") not in ("", "0")


def _search_path() -> list[str]:
    """Return the module search path of this process, for a process that starts elsewhere."""
    folder = _working_directory()
    entries = (e if os.path.isabs(e) else folder and os.path.join(folder, e) for e in sys.path)
    return [os.path.normpath(entry) for entry in entries if entry]


def _working_directory() -> str:
    """Return the working directory, or an empty text if it was deleted."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""


def _launch(job: ZygoteJob, control: socket.socket) -> subprocess.Popen[bytes]:
    output = None if _is_debugging() else subprocess.DEVNULL
    command = [sys.executable, "-c", "from compiler_gym.service.zygote import main; main()"]
    # numpy's one thread per core would use up the address space of a worker.
    environment = {"OPENBLAS_NUM_THREADS": "1", **os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(job.path)
    try:
        return subprocess.Popen(
            [*command, msgspec.json.encode(job).decode()],
            stdin=control.fileno(),
            stdout=output,
            stderr=output,
            env=environment,
            cwd=None if _working_directory() else "/",
            start_new_session=True,
        )
    except OSError as error:
        raise ServiceInitError(f"cannot start {sys.executable}: {error}") from error


def _socket_pair() -> tuple[socket.socket, socket.socket]:
    try:
        return socket.socketpair()
    except OSError as error:
        raise ServiceOSError(f"cannot open a socket to the compiler: {error}") from error


def _after_fork_in_child() -> None:
    global _lock
    _lock = threading.RLock()
    for zygote in _zygotes.values():
        zygote.forget()
    _zygotes.clear()


os.register_at_fork(after_in_child=_after_fork_in_child)
atexit.register(shut_down)
