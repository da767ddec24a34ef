# SPDX-License-Identifier: MIT
"""The connection of one environment to a worker process: requests, replies, typed errors.

`LocalConnection` gives the same replies without a process. A failed connection is closed; its
owner opens another at the next reset.
"""

import errno
import os
import time
import weakref
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
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
from compiler_gym.options import Limits
from compiler_gym.service.checks import read_reply, require_answer
from compiler_gym.service.dispatch import CLIENT_AWAKE_SECONDS, busy_workers
from compiler_gym.service.kept_programs import KeptPrograms, OpeningCost, make_key
from compiler_gym.service.limits import OUT_OF_MEMORY_STATUS, read_processor_seconds
from compiler_gym.service.messages import (
    Description,
    Failed,
    Fork,
    Forked,
    Hello,
    Reply,
    Request,
    Resume,
    Start,
    Started,
    Step,
    Stepped,
    Stop,
    encode,
)
from compiler_gym.service.servicer import describe_session
from compiler_gym.service.supervisor import SessionSource, ZygoteHandle, last_words, zygote_for
from compiler_gym.service.transport import Channel, ChannelClosed
from compiler_gym.service.worker import give_again
from compiler_gym.service.zygote import Ended, prepare_session_class

_SPARE_BYTES = 128 << 20
"""A worker that crashed with less than this left of its address space probably ran out of memory:
libraries reserve this much at once, and do not report that the allocation failed."""
_AWAKE_FOR_FORK_SECONDS = 1e-3
"""Like `CLIENT_AWAKE_SECONDS`, but for a fork, which keeps two workers busy."""
_live: "weakref.WeakSet[WorkerConnection]" = weakref.WeakSet()


@dataclass(slots=True)
class _Opening:
    """A start that was requested."""

    start: Start
    key: Hashable
    """Sets it apart from the starts of other sessions."""
    worked: float
    """Seconds that the worker computed in the previous episode."""
    replaced: "tuple[Channel, int] | None" = None
    """The original worker, kept until the copy that replaces it has answered."""


class WorkerConnection:
    """A session in a worker process.

    A start may switch to another process: a copy of a worker that already has the program loaded.
    """

    apply = None
    """None: every action is a request."""

    def __init__(self, zygote: ZygoteHandle, limits: Limits, channel: Channel, pid: int) -> None:
        self._zygote = zygote
        self.limits = limits
        """The limits of the worker."""
        self.channel: Channel | None = channel
        """The channel to the worker; None after `close`."""
        self.pid = pid
        """The number of the worker process."""
        channel.pid = pid
        self.asked: Request = Stop()
        """The last request, which the next reply must answer."""
        self._opening: _Opening | None = None
        self._opened_at: float | None = None
        """The worker's processor time at the beginning of its last episode."""
        _live.add(self)
        # The connection may be collected before the reply to its last request is read.
        weakref.finalize(self, _forget, id(self), zygote.programs).atexit = False

    @classmethod
    def open(cls, source: SessionSource, limits: Limits) -> "WorkerConnection":
        """Fork a worker from the zygote of `source`."""
        zygote = zygote_for(source)
        channel, pid = zygote.spawn(limits.memory_bytes)
        return cls(zygote, limits, channel, pid)._used()

    @property
    def is_open(self) -> bool:
        """True if a request can be made."""
        return self.channel is not None

    def call(self, request: Request, timeout: float | None = None) -> Reply:
        """Return the reply to `request`, as `Connection.call` does."""
        self.submit(request, timeout)
        return self.gather()

    def submit(
        self, request: Request, timeout: float | None = None, *, later: bool = False
    ) -> None:
        """Send `request` without waiting, or hold it back; `gather` returns the reply."""
        channel = self._require_rest()
        if type(request) is Step:
            request.stay_awake = busy_workers.worker_may_look and not channel.is_crowded
        elif type(request) is Start:
            request = self._begin_opening(request)
            assert self.channel is not None
            channel = self.channel
        self.asked = request
        seconds = self.limits.step_seconds if timeout is None else timeout
        channel.hold(encode(request), seconds)
        if not later:
            self._send(channel)

    def _send(self, channel: Channel) -> None:
        """Send a request that was held back. Errors are raised by `gather`."""
        busy_workers.enter(id(self))
        try:
            if busy_workers.is_one:
                channel.settle()
            elif channel.is_placed:
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
            reply = read_reply(channel.receive(deadline, awake_seconds), self.asked)
            busy_workers.leave(id(self))
        except (OSError, ValueError) as error:
            if isinstance(error, ChannelClosed) and self._takes_back():
                return self.gather(timeout)
            self._raise_for(error, channel)
        except BaseException:
            self._discard()
            raise
        if self._opening is not None:
            self._end_opening(self._opening, reply)
        if type(reply) is Failed and not reply.recoverable and _is_poisonous(reply.kind):
            self._discard()
        if type(reply) is Stepped:
            channel.sleeps, channel.seconds = reply.is_crowded, reply.seconds
        if isinstance(reply, (Stepped, Started)) and reply.warnings:
            give_again(reply.warnings)
        return reply

    def fileno(self) -> int | None:
        """Return the descriptor that becomes readable when a reply has come, if one is expected."""
        return None if self.channel is None else self.channel.descriptor

    def advance(self) -> bool:
        """Return True: there is one reply, and `gather` takes it."""
        return True

    def fork(self) -> "WorkerConnection | None":
        """Return a connection to a copy of the worker; None if its session cannot be forked."""
        if not self._is_forkable:
            return None
        self._require_rest()
        busy_workers.enter(id(self))
        try:
            self.begin_fork()
            return self.end_fork()._used()
        finally:
            busy_workers.leave(id(self))

    def begin_fork(self, observations: Sequence[str] = (), *, stays: bool = False) -> None:
        """Request a copy, which `end_fork` returns; errors are raised there.

        Both workers compute `observations` in advance. A copy that `stays` will only be forked
        from.
        """
        channel = self._require_rest()
        if channel.is_placed:
            channel.place(-1)
        self.asked = Fork(list(observations), stays)
        channel.hold(encode(self.asked), self.limits.step_seconds)
        channel.send_held()

    def is_forked(self, seconds: float) -> bool:
        """Return whether `end_fork` will not block, after waiting at most `seconds`."""
        channel = self.channel
        if channel is None:
            return True
        try:
            channel.wait(time.monotonic() + seconds, min(seconds, _AWAKE_FOR_FORK_SECONDS))
        except TimeoutError:
            return False
        except OSError:
            pass
        return True

    def end_fork(self) -> "WorkerConnection":
        """Return a connection to the copy that `begin_fork` requested."""
        channel = self.channel
        if channel is None:
            raise ServiceIsClosed("the connection to the worker is closed: call reset()")
        try:
            payload, descriptor = channel.receive_with_descriptor(
                channel.deadline, _AWAKE_FOR_FORK_SECONDS
            )
        except (OSError, ValueError) as error:
            self._raise_for(error, channel)
        except BaseException:
            self._discard()
            raise
        try:
            reply = read_reply(payload, self.asked)
            channel.awaits = False
            if isinstance(reply, Forked) and descriptor is not None:
                self._zygote.require_new(reply.pid, {live.pid for live in _live if live.is_open})
                copy, descriptor = Channel.from_descriptor(descriptor), None
                return WorkerConnection(self._zygote, self.limits, copy, reply.pid)
        except ServiceTransportError:
            self._discard()
            raise
        finally:
            if descriptor is not None:
                os.close(descriptor)
        if isinstance(reply, Failed):
            raise error_from_name(reply.kind, reply.message)
        # The copy exits by itself, because it is unreachable.
        raise ServiceOSError("the fork's socket did not arrive: too many open files")

    def close(self) -> None:
        """End the worker by closing its socket. Safe to call twice."""
        self._end()
        self._zygote.programs.leave(id(self))

    def abandon(self) -> None:
        """End the worker even in the middle of a request."""
        channel = self.channel
        if channel is not None:
            channel.cut()  # nothing can be sent from now on: a request was sent or never will be
        if channel is not None and channel.awaits:
            self._discard()
        self.close()

    def _used(self) -> "WorkerConnection":
        """Count as a user of the zygote, so that it keeps programs loaded."""
        self._zygote.programs.enter(id(self))
        return self

    @property
    def _is_forkable(self) -> bool:
        description = self._zygote.description
        assert description is not None
        return description.forkable

    def _require_rest(self) -> Channel:
        """Return the channel if it can take a request, or raise `ServiceIsClosed`."""
        channel = self.channel
        if channel is None:
            raise ServiceIsClosed("the connection to the worker is closed: call reset()")
        if channel.awaits or channel.is_held:  # an interrupt came before the reply
            self._discard()
            raise ServiceIsClosed("the last request was interrupted: call reset()")
        return channel

    def _begin_opening(self, start: Start) -> Request:
        """Return the request to start an episode, perhaps in a copy that has the program loaded."""
        self._opening = None
        if not self._is_forkable or self.limits.kept_programs == 0:
            return start
        key = make_key(start, self.limits.memory_bytes)
        opening = self._opening = _Opening(start, key, self._measure_work())
        copy = self._zygote.programs.take(key, opening.worked)
        if copy is None:
            return start
        assert self.channel is not None
        opening.replaced = self.channel, self.pid
        self.channel, self.pid = copy.channel, copy.pid
        copy.channel = None
        return Resume(start.observations)

    def _end_opening(self, opening: _Opening, reply: Reply) -> None:
        """Release a replaced worker, and keep the program loaded for the next start."""
        self._opening = None
        programs, names = self._zygote.programs, opening.start.observations
        if opening.replaced is not None:
            self._let_go(*opening.replaced)
            programs.took(opening.key, names if type(reply) is Started else ())
        elif type(reply) is Started:
            cost = OpeningCost(reply.seconds, opening.worked)
            programs.note_opened(opening.key, self, self.limits, cost, names)
        self._opened_at = read_processor_seconds(self.pid)

    def _measure_work(self) -> float:
        if self._opened_at is None:
            return 0.0
        return max(read_processor_seconds(self.pid) - self._opened_at, 0.0)

    def _takes_back(self) -> bool:
        """Return whether the request went back to the original worker, since the copy is lost."""
        opening, lost = self._opening, self.channel
        if opening is None or opening.replaced is None or lost is None:
            return False
        self._zygote.programs.drop(opening.key)
        self._let_go(lost, self.pid)
        (self.channel, self.pid), opening.replaced = opening.replaced, None
        self.asked = opening.start
        self.channel.hold(encode(opening.start), lost.limit)
        return True

    def _end(self) -> None:
        """Close the socket of the worker, and of the worker it replaced."""
        busy_workers.leave(id(self))
        opening, self._opening = self._opening, None
        channel, self.channel = self.channel, None
        if channel is not None:
            self._let_go(channel, self.pid)
        if opening is not None and opening.replaced is not None:
            self._let_go(*opening.replaced)

    def _let_go(self, channel: Channel, pid: int) -> None:
        channel.close()
        self._zygote.dismiss(pid)

    def _discard(self) -> None:
        """Close the connection, and kill a worker that is in the middle of a request."""
        if self.channel is None:
            return
        self._end()
        try:
            self._zygote.reap(self.pid, kill=True, seconds=0.0)
        except ServiceError:
            pass  # the worker ended with its zygote

    def _raise_for(self, error: OSError | ValueError, channel: Channel) -> NoReturn:
        """Close the connection and raise the exception that `error` stands for."""
        if isinstance(error, ValueError) or error.errno in (errno.EPROTO, errno.ENOMEM):
            self._discard()
            raise ServiceTransportError(f"the worker sent a malformed message: {error}") from error
        if error.errno is None:  # not from the channel: a signal handler raised it
            self._discard()
            raise error
        if isinstance(error, ChannelClosed):
            self._raise_ended()
        if isinstance(error, TimeoutError):
            self._raise_timeout(channel.limit)
        self._discard()
        raise ServiceIsClosed("the connection was closed in the middle of a request") from error

    def _raise_ended(self) -> NoReturn:
        if self.channel is None:  # closed by another thread
            raise ServiceIsClosed("the connection was closed in the middle of a request")
        self._end()
        try:
            ended = self._zygote.reap(self.pid, kill=False)
        except ServiceError:
            ended = Ended(None)
        raise _make_error(ended, self.limits, self._zygote.loaded_bytes)

    def _raise_timeout(self, seconds: float) -> NoReturn:
        self._end()
        try:
            self._zygote.reap(self.pid, kill=True)
        except ServiceError:
            pass
        raise WorkerTimeoutError(
            f"no answer within the deadline of {seconds:g} s; the worker was stopped",
            seconds=seconds,
        )


def describe_source(source: SessionSource, *, in_process: bool) -> Description:
    """Return the description of the sessions of `source`."""
    if in_process:
        session_class = prepare_session_class(source.session, dict(source.options))
        described = describe_session(session_class)
        require_answer(described, Hello([]))
        return described
    description = zygote_for(source).description
    assert description is not None
    return description


def _forget(connection: int, programs: "KeptPrograms[WorkerConnection]") -> None:
    """Note that the connection with this identity was collected."""
    busy_workers.leave(connection)
    programs.leave(connection)


def _is_poisonous(kind: str) -> bool:
    return kind in ("CompilerFatalError", "WorkerOutOfMemoryError")


def _make_error(ended: Ended, limits: Limits, loaded_bytes: int) -> CompilerGymError:
    status = ended.status
    if status is None:
        return WorkerCrashedError("the worker ended and its exit status is unknown")
    error = _error_of_status(status, last_words(ended))
    if error is None:
        return _out_of_memory(limits, loaded_bytes, "needed more than")
    if status != 0 and 0 < limits.memory_bytes < ended.peak_bytes + _SPARE_BYTES:
        return _out_of_memory(limits, loaded_bytes, f"ended ({error}) close to")
    return error


def _out_of_memory(limits: Limits, loaded_bytes: int, event: str) -> WorkerOutOfMemoryError:
    limit = limits.memory_bytes
    more = max(2 * limit, loaded_bytes + (512 << 20))
    return WorkerOutOfMemoryError(
        f"the compiler {event} its memory limit of {limit} bytes ({loaded_bytes} are in use before "
        f"it has a program): raise the limit, for example Limits(memory_bytes={more}), or 0 for "
        "no limit, and call reset()",
        limit_bytes=limit,
    )


def _error_of_status(status: int, output: str) -> WorkerCrashedError | None:
    """Return the error for a wait status; None for a worker that reported to be out of memory."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        error = WorkerCrashedError("", signal=number)
        error.args = (f"the compiler crashed: its worker was ended by {error.signal_name}{output}",)
        return error
    code = os.WEXITSTATUS(status)
    if code == OUT_OF_MEMORY_STATUS:
        return None
    return WorkerCrashedError(
        f"the compiler ended its process with exit status {code}{output}", exit_status=code
    )


def _after_fork_in_child() -> None:
    busy_workers.clear()
    for connection in list(_live):
        connection.close()


os.register_at_fork(after_in_child=_after_fork_in_child)
