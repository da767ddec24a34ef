# SPDX-License-Identifier: MIT
"""One environment's line to a worker process: ask, and get a reply or a typed error.

`LocalConnection` gives the same replies without a process. A connection that failed is
closed: its owner opens another at the next reset.
"""

import errno
import os
import time
import weakref
from typing import NoReturn

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
from compiler_gym.service.busy_workers import CLIENT_AWAKE_SECONDS, busy_workers
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
from compiler_gym.service.servicer import describe_session
from compiler_gym.service.supervisor import SessionSource, ZygoteHandle, zygote_for
from compiler_gym.service.transport import Channel, ChannelClosed
from compiler_gym.service.worker_warnings import give_again
from compiler_gym.service.zygote import prepared_session_class

__all__ = ["WorkerConnection", "describe_source"]

_AWAKE_FOR_FORK_SECONDS = 1e-3
"""As `CLIENT_AWAKE_SECONDS`, for a fork: two workers are busy with one."""
_live: "weakref.WeakSet[WorkerConnection]" = weakref.WeakSet()


class WorkerConnection:
    """A session in a process of its own."""

    apply = None
    """None: every action is a request."""

    def __init__(self, zygote: ZygoteHandle, limits: Limits, channel: Channel, pid: int) -> None:
        self._zygote = zygote
        self.limits = limits
        """What the worker may use."""
        self.channel: Channel | None = channel
        """What the worker is asked through; None after `close`."""
        self.pid = pid
        """The number of the worker process."""
        channel.pid = pid
        _live.add(self)
        # Nobody may be left to gather the reply to its last request.
        weakref.finalize(self, busy_workers.leave, id(self)).atexit = False

    @classmethod
    def open(cls, source: SessionSource, limits: Limits) -> "WorkerConnection":
        """Fork a worker from the zygote of `source`."""
        zygote = zygote_for(source)
        channel, pid = zygote.spawn(limits.memory_bytes)
        return cls(zygote, limits, channel, pid)

    @property
    def is_open(self) -> bool:
        """Whether a request can be made."""
        return self.channel is not None

    def call(self, request: Request, timeout: float | None = None) -> Reply:
        """Return the reply to `request`, as `Connection.call` does."""
        self.submit(request, timeout)
        return self.gather()

    def submit(
        self, request: Request, timeout: float | None = None, *, later: bool = False
    ) -> None:
        """Send `request` without waiting, or keep it back; `gather` fetches the reply."""
        channel = self.channel
        if channel is None:
            raise ServiceIsClosed("the connection to the worker is closed: call reset()")
        if channel.awaits or channel.is_held:  # an interrupt came in between
            self._discard()
            raise ServiceIsClosed("the last request was interrupted: call reset()")
        if type(request) is Step:
            request.stay_awake = busy_workers.worker_may_look
        seconds = self.limits.step_seconds if timeout is None else timeout
        channel.hold(encode(request), seconds)
        if not later:
            self._send(channel)

    def _send(self, channel: Channel) -> None:
        """Send what was kept back. What goes wrong is for `gather`."""
        busy_workers.enter(id(self))
        try:
            if channel.is_placed:
                channel.place(-1)
            channel.send_held()
        except BaseException:  # an interrupt
            self._discard()
            raise

    def gather(self, timeout: float | None = None) -> Reply:
        """Return the reply to the last request submitted."""
        channel = self.channel
        if channel is None:
            raise ServiceIsClosed("the connection to the worker is closed: call reset()")
        if channel.is_held:
            self._send(channel)
        deadline = channel.deadline if timeout is None else time.monotonic() + timeout
        try:
            awake_seconds = CLIENT_AWAKE_SECONDS if busy_workers.client_may_look else 0.0
            reply = decode_reply(channel.receive(deadline, awake_seconds))
            busy_workers.leave(id(self))
        except (OSError, ValueError) as error:
            self._raise_for(error, channel)
        except BaseException:
            self._discard()
            raise
        if type(reply) is Failed and not reply.recoverable and _is_poisonous(reply.kind):
            self._discard()
        if isinstance(reply, (Stepped, Started)) and reply.warnings:
            give_again(reply.warnings)
        return reply

    def fileno(self) -> int | None:
        """The descriptor that becomes readable when a reply has come; None if none will."""
        return None if self.channel is None else self.channel.descriptor

    def advance(self) -> bool:
        """Return True: there is one reply, and `gather` takes it."""
        return True

    def fork(self) -> "WorkerConnection | None":
        """Return a connection to a copy of the worker; None if its session cannot be forked."""
        assert self._zygote.description is not None
        if not self._zygote.description.forkable:
            return None
        self.submit(Fork())
        channel = self.channel
        assert channel is not None
        try:
            payload, descriptor = channel.receive_with_descriptor(
                time.monotonic() + self.limits.step_seconds, _AWAKE_FOR_FORK_SECONDS
            )
            reply = decode_reply(payload)
            channel.awaits = False
            busy_workers.leave(id(self))
        except (OSError, ValueError) as error:
            self._raise_for(error, channel)
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
            self._zygote, self.limits, Channel.from_descriptor(descriptor), reply.pid
        )

    def close(self) -> None:
        """End the worker by closing its socket. Calling it twice is fine."""
        busy_workers.leave(id(self))
        channel, self.channel = self.channel, None
        if channel is not None:
            channel.close()

    def abandon(self) -> None:
        """End the worker even in the middle of a request."""
        channel = self.channel
        if channel is not None:
            channel.cut()  # nothing can be sent from now on: either it was or it will not be
        if channel is not None and channel.awaits:
            self._discard()
        else:
            self.close()

    def _discard(self) -> None:
        """Close and make sure that a worker in mid-request ends too."""
        if self.channel is None:
            return
        self.close()
        try:
            self._zygote.reap(self.pid, kill=True, seconds=0.0)
        except ServiceError:
            pass  # with the zygote gone, so is the worker

    def _raise_for(self, error: OSError | ValueError, channel: Channel) -> NoReturn:
        """Close, and raise what `error` of the channel means."""
        if isinstance(error, ValueError) or error.errno == errno.EPROTO:
            self._discard()
            raise ServiceTransportError(f"the worker sent what is no message: {error}") from error
        if error.errno is None:  # not the channel's: a signal's handler raised it
            self._discard()
            raise error
        if isinstance(error, ChannelClosed):
            self._raise_ended()
        if isinstance(error, TimeoutError):
            self._raise_timeout(channel.limit)
        self._discard()
        raise ServiceIsClosed("the connection was closed in the middle of a request") from error

    def _raise_ended(self) -> NoReturn:
        if self.channel is None:  # by another thread
            raise ServiceIsClosed("the connection was closed in the middle of a request")
        self.close()
        try:
            status = self._zygote.reap(self.pid, kill=False)
        except ServiceError:
            status = None
        raise _error_of(status, self.limits)

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


def describe_source(source: SessionSource, *, in_process: bool) -> Description:
    """Return what the sessions of `source` offer."""
    if in_process:
        session_class = prepared_session_class(source.session, dict(source.options))
        return describe_session(session_class)
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
    busy_workers.clear()
    for connection in list(_live):
        connection.close()


os.register_at_fork(after_in_child=_after_fork_in_child)
