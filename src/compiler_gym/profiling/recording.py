# SPDX-License-Identifier: MIT
"""Play an episode and record its time.

A connection that delegates to another one records when each request began and ended.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import monotonic_ns
from typing import TYPE_CHECKING, Any, cast

from compiler_gym.core import CompilerEnv
from compiler_gym.errors import (
    CompilerError,
    CompilerGymError,
    InvalidParameterError,
    ServiceError,
)
from compiler_gym.profiling.profile import Profile, Span
from compiler_gym.service import Channel, Connection
from compiler_gym.service.messages import Parameter, ParameterReply, Reply, Request, Stepped
from compiler_gym.service.stopwatch import APPLY, TIMES, TimedCall, read_times
from compiler_gym.session import Layer, TimedPart
from compiler_gym.spaces import action_name

if TYPE_CHECKING:
    from compiler_gym.datasets import Benchmark
    from compiler_gym.service import Connection


@dataclass(frozen=True, slots=True)
class TimedRequest:
    """The times of one request, in nanoseconds of the monotonic clock."""

    began: int
    ended: int
    served: int | None
    """Nanoseconds spent in the worker, as the worker reports; None without a report."""


class TimedConnection:
    """A `Connection` that forwards to `inner` and times each request."""

    def __init__(self, inner: Connection) -> None:
        self.inner = inner
        """The connection that does the work."""
        self.requests: list[TimedRequest] = []
        """Requests that ended since this list was last emptied."""
        self._began = 0

    @property
    def is_open(self) -> bool:
        """True if a request can be made."""
        return self.inner.is_open

    @property
    def apply(self) -> Callable[[Any], bool | Reply] | None:
        """Function that applies one action directly if the session is in this process."""
        return None if self.inner.apply is None else self._apply

    @property
    def channel(self) -> Channel | None:
        """Channel through which a delayed request is sent."""
        return self.inner.channel

    def call(self, request: Request, timeout: float | None = None) -> Reply:
        """Return the reply to `request`."""
        self.submit(request, timeout)
        return self.gather()

    def submit(
        self, request: Request, timeout: float | None = None, *, later: bool = False
    ) -> None:
        """Begin a request without waiting."""
        self._began = monotonic_ns()
        try:
            self.inner.submit(request, timeout, later=later)
        except BaseException:
            self._note(None)
            raise

    def gather(self, timeout: float | None = None) -> Reply:
        """Return the reply to the last request submitted."""
        try:
            reply = self.inner.gather(timeout)
        except BaseException:
            self._note(None)
            raise
        self._note(reply)
        return reply

    def fileno(self) -> int | None:
        """Return the descriptor that becomes readable when `advance` need not wait."""
        return self.inner.fileno()

    def advance(self) -> bool:
        """Do all work possible before `gather`."""
        return self.inner.advance()

    def abandon(self) -> None:
        """End the session even in the middle of a request."""
        self.inner.abandon()

    def fork(self) -> Connection | None:
        """Return an untimed connection to a copy of the session."""
        return self.inner.fork()

    def close(self) -> None:
        """End the session."""
        self.inner.close()

    def _apply(self, action: Any) -> bool | Reply:
        apply = self.inner.apply
        assert apply is not None
        self._began = monotonic_ns()
        try:
            return apply(action)
        finally:
            self._note(None)

    def _note(self, reply: Reply | None) -> None:
        served = int(reply.seconds * 1e9) if type(reply) is Stepped and reply.seconds else None
        self.requests.append(TimedRequest(self._began, monotonic_ns(), served))


def profile(
    env: Any, actions: Iterable[Any], *, benchmark: "str | Benchmark | None" = None
) -> Profile:
    """Reset `env`, take `actions` one by one, and return the time spent in each layer.

    `env` may have wrappers, but their time is not measured. Each step computes the observation
    and the reward chosen in `env`. If the compiler fails or its worker is lost, the profile ends
    with that step and has the error. Afterwards `env` is in the state that the actions reached.

    Raises the errors of ``reset``, `InvalidActionError` for an action that is not in the action
    space, and `InvalidParameterError` for an environment with a cache.
    """
    base = env.unwrapped
    if not isinstance(base, CompilerEnv):
        raise InvalidParameterError(
            f"cannot profile {type(base).__name__}: pass an environment of compiler_gym"
        )
    if base.cache is not None:
        raise InvalidParameterError(
            "cannot profile an environment with a cache, which may skip work: make it without one"
        )
    compiler_env = cast("CompilerEnv", base)  # `isinstance` leaves its types unknown
    return _Recording(compiler_env).play(list(actions), benchmark)


class _Recording:
    """One timed episode of `env`."""

    def __init__(self, env: CompilerEnv) -> None:
        self._env = env
        self._began = 0
        self._paused = 0
        self._ended = 0
        self._spans: list[Span] = []
        self._timed: TimedConnection | None = None

    def play(self, actions: list[Any], benchmark: "str | Benchmark | None") -> Profile:
        """Play the episode."""
        try:
            self._start(benchmark)
            self._env.episode.selection.plain(actions)  # raises for an unknown action
            names, error = self._steps(actions)
        finally:
            self._leave()
        program = self._env.episode.program
        return Profile(
            benchmark="" if program is None else str(program.uri),
            actions=tuple(names),
            nanoseconds=self._ended - self._began - self._paused,
            spans=tuple(self._spans),
            error=error,
        )

    def _start(self, benchmark: "str | Benchmark | None") -> None:
        episode = self._env.episode
        self._began = monotonic_ns()
        connection, is_new = episode.connect()
        self._ended = monotonic_ns()
        if is_new:
            duration = self._ended - self._began
            self._spans.append(Span(Layer.RESET, "start a worker", duration, began=0))
        self._listen(connection)
        began = self._resume()
        self._env.reset(benchmark=benchmark)
        self._note("reset", began, "reset", Layer.RESET)
        # The reset may have started another worker, on this connection or a new one.
        connection = episode.connection
        assert connection is not None
        self._listen(connection)

    def _steps(self, actions: list[Any]) -> tuple[list[str], CompilerGymError | None]:
        names: list[str] = []
        around = Layer.TRANSPORT if self._env.isolation == "process" else Layer.WORKER
        for action in actions:
            names.append(action_name(self._env.action_space, action))
            began = self._resume()
            _, _, terminated, truncated, info = self._env.step(action)
            self._note(f"step {names[-1]}", began, names[-1], around)
            if terminated or truncated:
                return names, info.get("error")
        return names, None

    def _resume(self) -> int:
        """Return the current time; the time since the last call ended does not count.

        A user's program would do other work in between.
        """
        began = monotonic_ns()
        self._paused += began - self._ended
        return began

    def _listen(self, connection: "Connection") -> None:
        """Time requests through `connection` from now on, here and in the session."""
        if not isinstance(connection, TimedConnection):
            connection = TimedConnection(connection)
        self._timed = self._env.episode.connection = connection
        try:
            connection.inner.call(Parameter(TIMES, "on"))
        except (CompilerError, ServiceError):
            pass  # the episode itself reports it

    def _leave(self) -> None:
        timed, episode = self._timed, self._env.episode
        if timed is None:
            return
        if episode.connection is timed:
            episode.connection = timed.inner
        try:
            timed.inner.call(Parameter(TIMES, "off"))
        except (CompilerError, ServiceError):
            pass  # the session has already ended

    def _note(self, name: str, began: int, action: str, around: Layer) -> None:
        """Record the span of a call that ends now, with the times its session reports.

        Time in a request that the session does not report counts towards the layer `around`.
        """
        self._ended = monotonic_ns()
        timed, start = self._timed, self._began + self._paused
        assert timed is not None
        requests, timed.requests = timed.requests, []
        calls = _fetch_calls(timed.inner)
        parts = tuple(_request_span(request, calls, action, around, start) for request in requests)
        duration = self._ended - began
        self._spans.append(Span(Layer.PYTHON, name, duration, began=began - start, parts=parts))


def _fetch_calls(connection: "Connection") -> list[TimedCall] | None:
    """Return the calls recorded since the last fetch; None if the session was lost."""
    try:
        reply = connection.call(Parameter(TIMES, "take"))
    except (CompilerError, ServiceError):
        return None
    if not isinstance(reply, ParameterReply) or reply.value is None:  # it does not support timing
        return []
    return read_times(reply.value)


def _request_span(
    request: TimedRequest, calls: list[TimedCall] | None, action: str, around: Layer, start: int
) -> Span:
    """Return the span of a request, with the calls it led to as parts."""
    duration, began = request.ended - request.began, request.began - start
    if calls is None:  # lost with its worker
        lost = Span(Layer.ACTIONS, f"{action}: lost with its worker", duration)
        return Span(around, "request", duration, began=began, parts=(lost,))
    nested = [call for call in calls if request.began <= call.began < request.ended]
    parts = tuple(_part_span(call.part, action, call.began - start) for call in nested)
    if request.served is not None:
        minimum = max(request.served, sum(part.nanoseconds for part in parts))
        parts = (Span(Layer.WORKER, "worker", min(minimum, duration), parts=parts),)
        around = Layer.TRANSPORT
    return Span(around, "request", duration, began=began, parts=parts)


def _part_span(part: TimedPart, action: str, began: int | None = None) -> Span:
    name = action if part.layer is Layer.ACTIONS and part.name == APPLY else part.name
    parts = tuple(_part_span(inner, action) for inner in part.parts)
    return Span(part.layer, name, part.nanoseconds, part.calls, began, parts)
