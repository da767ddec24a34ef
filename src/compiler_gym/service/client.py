# SPDX-License-Identifier: MIT
"""One environment's line to its session: ask, and get a reply or a typed error.

`WorkerConnection` holds a worker process; `LocalConnection` runs the session in
this process, for inputs that are trusted. Both give the same replies. A
connection that failed is closed: its owner opens another at the next reset.
"""

import math
import os
import select
import shutil
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn, Protocol

from compiler_gym.errors import (
    CompilerGymError,
    ServiceError,
    ServiceIsClosed,
    ServiceOSError,
    ServiceTransportError,
    WorkerCrashedError,
    WorkerOutOfMemoryError,
    WorkerTimeoutError,
    error_from_name,
)
from compiler_gym.service.crowd import Crowd
from compiler_gym.service.limits import OUT_OF_MEMORY_STATUS, Limits
from compiler_gym.service.messages import (
    Description,
    Failed,
    Fork,
    Forked,
    Reply,
    Request,
    Started,
    Step,
    Stepped,
    decode_reply,
    encode,
)
from compiler_gym.service.notices import give_again
from compiler_gym.service.scratch import new_scratch
from compiler_gym.service.servicer import Servicer, describe
from compiler_gym.service.supervisor import SessionSource, Zygote, zygote_for
from compiler_gym.service.transport import Channel, ChannelClosed
from compiler_gym.service.zygote import prepared_session_class

__all__ = [
    "Connection",
    "LocalConnection",
    "WorkerConnection",
    "as_answered",
    "describe_source",
]

AWAKE_SECONDS = 5e-3
"""How long a client looks for a reply before it sleeps: longer than most passes take. It sleeps
at once while as many workers are busy as there are cores: they use its core better."""
_AWAKE_FOR_FORK_SECONDS = 1e-3
"""As `AWAKE_SECONDS`, for a fork: two workers are busy with one."""
_crowd = Crowd()
"""The connections of this process, by identity, that wait for a reply."""

_live: "weakref.WeakSet[WorkerConnection]" = weakref.WeakSet()


class Connection(Protocol):
    """What an environment needs of a session, wherever it runs."""

    @property
    def is_open(self) -> bool:
        """Whether a request can be made."""
        ...

    def call(self, request: Request, timeout: float | None = None) -> Reply:
        """Return the reply to `request`; `Failed` replies are returned, not raised.

        Raises `WorkerDied` when the worker ends before it answers, and
        `ServiceIsClosed` when the connection is closed.
        """
        ...

    def submit(self, request: Request, timeout: float | None = None) -> None:
        """Begin a request without waiting; `gather` returns the reply. Raises as `call` does."""
        ...

    def gather(self, timeout: float | None = None) -> Reply:
        """Return the reply to the last request submitted, as `call` does."""
        ...

    @property
    def deadline(self) -> float:
        """When the reply that is waited for is overdue, by `time.monotonic()`."""
        ...

    def fileno(self) -> int | None:
        """What becomes readable when `advance` need not wait, or None if it need not now."""
        ...

    def advance(self) -> bool:
        """Do what can be done before `gather`; return False if that is to be called again.

        Most requests are one of the session too, and there is nothing to do.
        """
        ...

    def abandon(self) -> None:
        """End the session even in the middle of a request."""
        ...

    def fork(self) -> "Connection | None":
        """Return a connection to an exact copy of the session, or None if replay is needed."""
        ...

    def close(self) -> None:
        """End the session and what holds it. Calling it twice is fine."""
        ...


class WorkerConnection:
    """A session in a process of its own."""

    def __init__(self, zygote: Zygote, limits: Limits, channel: Channel, pid: int) -> None:
        self._zygote = zygote
        self._limits = limits
        self._channel: Channel | None = channel
        self._awaits_reply = False
        self._seconds = 0.0
        self.deadline = math.inf
        """When the reply that is waited for is overdue, by `time.monotonic()`."""
        self.pid = pid
        """The number of the worker process."""
        _live.add(self)
        # Nobody may be left to gather the reply to its last request.
        weakref.finalize(self, _crowd.leave, id(self)).atexit = False

    @classmethod
    def open(cls, source: SessionSource, limits: Limits) -> "WorkerConnection":
        """Fork a worker from the zygote of `source`."""
        zygote = zygote_for(source)
        channel, pid = zygote.spawn(limits.memory_bytes)
        return cls(zygote, limits, channel, pid)

    @property
    def is_open(self) -> bool:
        """Whether a request can be made."""
        return self._channel is not None

    def call(self, request: Request, timeout: float | None = None) -> Reply:
        """Return the reply to `request`, as `Connection.call` does."""
        self.submit(request, timeout)
        return self.gather(timeout)

    def submit(self, request: Request, timeout: float | None = None) -> None:
        """Send `request` without waiting; `gather` fetches the reply."""
        channel = self._channel
        if channel is None:
            raise ServiceIsClosed("the connection to the worker is closed: call reset()")
        if self._awaits_reply:  # an interrupt came between request and reply
            self._discard()
            raise ServiceIsClosed("the last request was interrupted: call reset()")
        if type(request) is Step:
            request.stay_awake = _crowd.worker_may_look
        payload = encode(request)
        self._awaits_reply = True
        _crowd.enter(id(self))
        seconds = self._limits.step_seconds if timeout is None else timeout
        self._seconds, self.deadline = seconds, time.monotonic() + seconds
        try:
            channel.send(payload, self.deadline)
        except ChannelClosed:
            self._raise_ended()
        except TimeoutError:
            self._raise_timeout(seconds)
        except BaseException:
            self._discard()
            raise

    def gather(self, timeout: float | None = None) -> Reply:
        """Return the reply to the last request submitted."""
        seconds = self._limits.step_seconds if timeout is None else timeout
        channel = self._channel
        if channel is None:
            raise ServiceIsClosed("the connection to the worker is closed: call reset()")
        try:
            awake_seconds = AWAKE_SECONDS if _crowd.client_may_look else 0.0
            reply = decode_reply(channel.receive(time.monotonic() + seconds, awake_seconds))
            self._awaits_reply = False
            _crowd.leave(id(self))
        except ChannelClosed:
            self._raise_ended()
        except TimeoutError:
            self._raise_timeout(self._seconds)
        except OSError as error:
            self._discard()
            raise ServiceIsClosed("the connection was closed in the middle of a request") from error
        except ValueError as error:
            self._discard()
            raise ServiceTransportError(f"the worker sent what is no message: {error}") from error
        except BaseException:
            self._discard()
            raise
        if type(reply) is Failed and not reply.recoverable and _is_poisonous(reply.kind):
            self._discard()
        elif isinstance(reply, (Stepped, Started)) and reply.notices:
            give_again(reply.notices)
        return reply

    def fileno(self) -> int | None:
        """The descriptor that becomes readable when a reply has come; None after `close`."""
        channel = self._channel
        return None if channel is None else channel.descriptor

    def advance(self) -> bool:
        """Return True: there is one reply, and `gather` takes it."""
        return True

    def fork(self) -> "WorkerConnection | None":
        """Return a connection to a copy of the worker; None if its session cannot be forked."""
        assert self._zygote.description is not None
        if not self._zygote.description.forkable:
            return None
        self.submit(Fork())
        channel = self._channel
        assert channel is not None
        try:
            payload, descriptor = channel.receive_with_descriptor(
                time.monotonic() + self._limits.step_seconds, _AWAKE_FOR_FORK_SECONDS
            )
            reply = decode_reply(payload)
            self._awaits_reply = False
            _crowd.leave(id(self))
        except ChannelClosed:
            self._raise_ended()
        except TimeoutError:
            self._raise_timeout(self._limits.step_seconds)
        except BaseException:
            self._discard()
            raise
        if isinstance(reply, Failed):
            raise error_from_name(reply.kind, reply.message)
        if not isinstance(reply, Forked):
            self._discard()
            raise ServiceTransportError(f"expected Forked, found {type(reply).__name__}")
        if descriptor is None:  # the copy leaves by itself: nobody can reach it
            raise ServiceOSError("the fork's socket did not arrive: too many open files")
        return WorkerConnection(
            self._zygote, self._limits, Channel.from_descriptor(descriptor), reply.pid
        )

    def close(self) -> None:
        """End the worker by closing its socket. Calling it twice is fine."""
        _crowd.leave(id(self))
        channel, self._channel = self._channel, None
        if channel is not None:
            channel.close()

    def abandon(self) -> None:
        """End the worker even in the middle of a request."""
        if self._awaits_reply:
            self._discard()
        else:
            self.close()

    def _discard(self) -> None:
        """Close and make sure that a worker in mid-request ends too."""
        if self._channel is None:
            return
        self.close()
        try:
            self._zygote.reap(self.pid, kill=True, seconds=0.0)
        except ServiceError:
            pass  # with the zygote gone, so is the worker

    def _raise_ended(self) -> NoReturn:
        if self._channel is None:  # by another thread
            raise ServiceIsClosed("the connection was closed in the middle of a request")
        self.close()
        try:
            status = self._zygote.reap(self.pid, kill=False)
        except ServiceError:
            status = None
        raise _error_of(status, self._limits)

    def _raise_timeout(self, seconds: float) -> NoReturn:
        self.close()
        try:
            self._zygote.reap(self.pid, kill=True)
        except ServiceError:
            pass
        raise WorkerTimeoutError(
            f"no answer within the deadline of {seconds:g} s; the worker was ended",
            seconds=seconds,
        )


class LocalConnection:
    """A session in this process: no isolation, no process to reach."""

    def __init__(self, source: SessionSource) -> None:
        session_class = prepared_session_class(source.session, dict(source.options))
        self._scratch = new_scratch("local")
        self._directories = 0
        self._owner = os.getpid()
        self.servicer: Servicer | None = Servicer(session_class, self._new_directory)
        self.apply: Callable[[Any], bool | Reply] = self.servicer.apply
        """`Servicer.apply`, or what raises `ServiceIsClosed`."""
        self._reply: Reply | None = None
        self.deadline = math.inf
        """Never: no deadline is kept here."""

    @property
    def is_open(self) -> bool:
        """Whether a request can be made."""
        return self.servicer is not None

    def call(self, request: Request, timeout: float | None = None) -> Reply:
        """Return the reply to `request`; no deadline is kept here."""
        servicer = self.servicer
        if servicer is None:
            _refuse(request)
        try:
            return servicer.step(request) if type(request) is Step else servicer.handle(request)
        except BaseException:  # an interrupt: the session may be in the middle of anything
            self.close()
            raise

    def submit(self, request: Request, timeout: float | None = None) -> None:
        """Serve `request` now; `gather` returns the reply."""
        self._reply = self.call(request, timeout)

    def gather(self, timeout: float | None = None) -> Reply:
        """Return the reply to the last request submitted."""
        reply, self._reply = self._reply, None
        if reply is None:
            raise ServiceIsClosed("no request was submitted")
        return reply

    def fileno(self) -> None:
        """Return None: there is nothing to wait for."""

    def advance(self) -> bool:
        """Return True: the reply is there."""
        return True

    def abandon(self) -> None:
        """End the session."""
        self.close()

    def fork(self) -> None:
        """Return None: a session in this process is copied by replay."""
        return None

    def close(self) -> None:
        """End the session and remove its files. Calling it twice is fine."""
        servicer, self.servicer, self.apply = self.servicer, None, _refuse
        if servicer is not None and os.getpid() == self._owner:
            servicer.stop()
            shutil.rmtree(self._scratch, ignore_errors=True)

    def _new_directory(self) -> Path:
        self._directories += 1
        return self._scratch / str(self._directories)


def _refuse(request: Any) -> NoReturn:
    raise ServiceIsClosed("the session is closed: call reset()")


def as_answered(connections: Mapping[int, Connection | None]) -> Iterator[int]:
    """Yield the keys of `connections` in the order in which their replies can be gathered.

    What is done can be taken in while the workers of others compute. Where there is nothing
    to wait for, a key comes first; where a deadline has passed, last.
    """
    if _crowd.worker_may_look:  # all compute at once: to be woken for each takes longer
        _advance_all(connections.values())
        yield from connections
        return
    waiting: dict[int, int] = {}
    earliest = math.inf
    replies = select.poll()
    for key, connection in connections.items():
        descriptor = None if connection is None else connection.fileno()
        if connection is None or descriptor is None:
            yield key
            continue
        waiting[descriptor] = key
        replies.register(descriptor, select.POLLIN)
        earliest = min(earliest, connection.deadline)
    while waiting and not _crowd.client_may_look:
        left = earliest - time.monotonic()
        if left <= 0:
            break
        for descriptor, event in replies.poll(left * 1000):
            if event != select.POLLIN:  # closed meanwhile, or about to be
                replies.unregister(descriptor)
            key_or_none = waiting.get(descriptor)
            if key_or_none is not None and connections[key_or_none].advance():  # type: ignore[union-attr]  # it has a descriptor
                del waiting[descriptor]
                yield key_or_none
    else:
        _advance_all([connections[key] for key in waiting.values()])
    yield from waiting.values()


def _advance_all(connections: Iterable[Connection | None]) -> None:
    """Let all go on side by side, so that `gather` has one reply of each left to wait for."""
    under_way = [one for one in connections if one is not None and not one.advance()]
    while under_way:
        under_way = [one for one in under_way if not one.advance()]


def describe_source(source: SessionSource, *, in_process: bool) -> Description:
    """Return what the sessions of `source` offer."""
    if in_process:
        session_class = prepared_session_class(source.session, dict(source.options))
        return describe(session_class)
    description = zygote_for(source).description
    assert description is not None
    return description


def _is_poisonous(kind: str) -> bool:
    return kind in ("CompilerFatalError", "WorkerOutOfMemoryError")


def _error_of(status: int | None, limits: Limits) -> CompilerGymError:
    if status is None:
        return WorkerCrashedError("the worker has gone and its exit status with it")
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        error = WorkerCrashedError("", signal=number)
        error.args = (f"the compiler crashed: its worker was ended by {error.signal_name}",)
        return error
    code = os.WEXITSTATUS(status)
    if code == OUT_OF_MEMORY_STATUS:
        return WorkerOutOfMemoryError(
            f"the compiler needed more than the limit of {limits.memory_bytes} bytes",
            limit_bytes=limits.memory_bytes,
        )
    return WorkerCrashedError(
        f"the compiler ended its process with exit status {code}", exit_status=code
    )


def _after_fork_in_child() -> None:
    _crowd.clear()
    for connection in list(_live):
        connection.close()


os.register_at_fork(after_in_child=_after_fork_in_child)
