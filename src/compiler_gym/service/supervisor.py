# SPDX-License-Identifier: MIT
"""Owns the zygotes of this process: one for each compiler and its options.

A zygote is started on first use and serves every environment of the process,
from any thread. A forked child of the client gets none of them: it closes what
it inherited and starts its own.
"""

import atexit
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from compiler_gym.errors import (
    EnvironmentNotSupported,
    ServiceInitError,
    ServiceIsClosed,
    ServiceOSError,
    ServiceTransportError,
    error_from_name,
)
from compiler_gym.files import new_scratch
from compiler_gym.service.kept_programs import KeptPrograms
from compiler_gym.service.limits import address_space_of
from compiler_gym.service.messages import PROTOCOL, Description, Failed, Reply, encode
from compiler_gym.service.transport import Channel, ChannelClosed
from compiler_gym.service.zygote import Ended, Reap, Spawn, Spawned, ZygoteJob

__all__ = ["SessionSource", "ZygoteHandle", "shut_down", "zygote_for"]

START_SECONDS = 60.0
"""The deadline of a zygote's start: loading a compiler on a busy machine."""

_decode = msgspec.msgpack.Decoder(Reply | Spawned | Ended).decode
_zygotes: dict["SessionSource", "ZygoteHandle"] = {}
_lock = threading.RLock()
_T = TypeVar("_T", Spawned, Ended)


@dataclass(frozen=True, slots=True)
class SessionSource:
    """Which session class to serve, and with which options."""

    session: str
    """``"package.module:Class"``."""
    options: tuple[tuple[str, str], ...] = field(default=())


class ZygoteHandle:
    """The client's handle on a zygote process."""

    def __init__(self, process: subprocess.Popen[bytes], channel: Channel, scratch: Path) -> None:
        self._process = process
        self._scratch = scratch
        self._channel: Channel | None = channel
        self._lock = threading.Lock()
        self.description: Description | None = None
        self.programs: KeptPrograms[Any] = KeptPrograms(process.pid)
        """What its workers keep loaded."""

    @classmethod
    def start(cls, source: SessionSource) -> "ZygoteHandle":
        """Start a zygote and wait until its compiler is loaded."""
        scratch = new_scratch("workers")
        job = ZygoteJob(
            session=source.session,
            options=dict(source.options),
            client=os.getpid(),
            scratch=str(scratch),
            path=_search_path(),
        )
        ours, theirs = _socket_pair()
        with theirs:
            try:
                process = _launch(job, theirs)
            except BaseException:
                ours.close()
                raise
        zygote = cls(process, Channel(ours), scratch)
        try:
            zygote._wait_until_ready(source)
        except BaseException:
            zygote.close()
            raise
        return zygote

    @property
    def is_alive(self) -> bool:
        """Whether the process runs and is ours to talk to."""
        return self._channel is not None and self._process.poll() is None

    def spawn(self, memory_bytes: int) -> tuple[Channel, int]:
        """Return a channel to a new worker and its process number."""
        ours, theirs = _socket_pair()
        try:
            with theirs:
                reply = self._ask(Spawn(memory_bytes), Spawned, theirs.fileno())
        except BaseException:
            ours.close()
            raise
        return Channel(ours), reply.pid

    def reap(self, pid: int, *, kill: bool, seconds: float = 2.0) -> Ended:
        """Return how worker `pid` ended; its status is None if it has not."""
        return self._ask(Reap(pid, kill, seconds), Ended)

    @property
    def loaded_bytes(self) -> int:
        """The address space that the compiler takes before it has a program."""
        return address_space_of(self._process.pid)[0]

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
        if self._process.returncode != 0:  # it could not clean up after itself
            shutil.rmtree(self._scratch, ignore_errors=True)

    def forget(self) -> None:
        """Drop what a forked child inherited, without a word to the process."""
        channel, self._channel = self._channel, None
        self._lock = threading.Lock()
        self.programs.forget()
        if channel is not None:
            channel.close()
        self._process.returncode = 0  # it is the parent's child: never wait for it here

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
                raise ServiceInitError(f"the compiler's process has gone: {error!r}") from error
            except BaseException:
                self._channel = None  # an answer may be under way: never read it as another's
                channel.close()
                raise
        if isinstance(reply, expected):
            return reply
        if isinstance(reply, Failed):
            raise ServiceOSError(reply.message)
        raise ServiceInitError(f"expected {expected.__name__}, found {type(reply).__name__}")

    def _wait_until_ready(self, source: SessionSource) -> None:
        channel = self._channel
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
                f"the process for {source.session} sent what is no message: {error}"
            ) from error
        if isinstance(reply, Failed):
            raise error_from_name(reply.kind, reply.message)
        assert isinstance(reply, Description)
        if reply.protocol != PROTOCOL:
            raise EnvironmentNotSupported(
                f"{source.session} speaks protocol {reply.protocol}, expected {PROTOCOL}"
            )
        self.description = reply


def zygote_for(source: SessionSource) -> ZygoteHandle:
    """Return this process's zygote for `source`, starting it if need be."""
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


def _search_path() -> list[str]:
    """Return where this process looks for modules, for a process that starts elsewhere."""
    here = _working_directory()
    entries = (e if os.path.isabs(e) else here and os.path.join(here, e) for e in sys.path)
    return [os.path.normpath(entry) for entry in entries if entry]


def _working_directory() -> str:
    """Return the working directory, or nothing where somebody has deleted it."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""


def _launch(job: ZygoteJob, control: socket.socket) -> subprocess.Popen[bytes]:
    debug = os.environ.get("COMPILER_GYM_DEBUG", "0") not in ("", "0")
    output = None if debug else subprocess.DEVNULL
    command = [sys.executable, "-c", "from compiler_gym.service.zygote import main; main()"]
    # A thread of numpy's for each core would take the address space that a worker may have.
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
