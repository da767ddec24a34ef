# SPDX-License-Identifier: MIT
"""A step or a reset that has begun and has no result yet.

A single environment sends the request and waits; a vector sends many together; a pool takes the
first result that is ready. They all use the protocol `Pending`.
"""

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol

from typing_extensions import TypeVar

from compiler_gym.core.plan import ObservationPlan
from compiler_gym.datasets import Benchmark
from compiler_gym.errors import (
    BenchmarkInitError,
    BenchmarkOutOfMemoryError,
    BenchmarkTimeoutError,
    CompilerError,
    CompilerGymError,
    ServiceError,
    ServiceIsClosed,
    WorkerOutOfMemoryError,
    WorkerTimeoutError,
)
from compiler_gym.service import Channel, Connection
from compiler_gym.service.messages import Reply, Start, Step

if TYPE_CHECKING:
    from compiler_gym.core.episode import Episode


Obs = TypeVar("Obs", default=Any)
"""The type of an environment's observations."""
Act = TypeVar("Act", default=Any)
"""The type of an environment's actions."""
StepTuple = tuple[Any, Any, bool, bool, dict[str, Any]]
"""Observation, reward, terminated, truncated and info: the result of a step without names."""


class StepResult(NamedTuple, Generic[Obs]):
    """The result of a step: a tuple of five, as Gymnasium defines it, whose fields have names."""

    observation: Obs
    """The observation of the chosen space; None without one."""
    reward: Any
    """The reward of the chosen space, a list for several; None without one."""
    terminated: bool
    """True if the compiler ended the episode."""
    truncated: bool
    """True if the step failed, or a wrapper cut the episode short."""
    info: dict[str, Any]
    """Further facts: `action_had_no_effect`, `new_action_space` and, after a failure, `error`."""


ResetResult = tuple[Any, dict[str, Any]]
"""Observation, info."""
_Result = TypeVar("_Result", covariant=True)


class Pending(Protocol[_Result]):
    """A step or a reset that has begun. `send`, then `result`; in between, others may be sent."""

    def send(self, *, later: bool = False) -> None:
        """Send the request to the session.

        Failures of the compiler and of its worker are reported by `result`.

        Args:
            later: True if the request may be held in `channel`, to be sent with others.
        """
        ...

    @property
    def channel(self) -> Channel | None:
        """The channel that holds the request; None if there is nothing to send."""
        ...

    def fileno(self) -> int | None:
        """Return the file descriptor that becomes readable when `advance` can be called without
        waiting; None if it can be called now."""
        ...

    def advance(self) -> bool:
        """Read available replies; return whether `result` can be called without waiting."""
        ...

    def result(self) -> _Result:
        """Wait for the reply and return the result; send the request first if necessary.

        Call it once.
        """
        ...


class StepPending:
    """A step that has begun: its actions are in the history of the episode."""

    __slots__ = ("_actions", "_connection", "_episode", "_error", "_plan", "_request", "_timeout")

    def __init__(
        self,
        episode: "Episode",
        connection: Connection,
        request: Step | None,
        actions: list[Any],
        plan: ObservationPlan,
        timeout: float | None = None,
    ) -> None:
        self._episode = episode
        self._connection = connection
        self._request = request  # None once it was sent
        self._actions = actions
        self._plan = plan
        self._timeout = timeout
        self._error: CompilerGymError | None = None

    def send(self, *, later: bool = False) -> None:
        """Send the request to the session."""
        request, self._request = self._request, None
        assert request is not None
        try:
            self._connection.submit(request, self._timeout, later=later)
        except (CompilerError, ServiceError) as error:
            self._error = error

    @property
    def channel(self) -> Channel | None:
        """The channel that holds the request, if it was held back."""
        return self._connection.channel if self._error is None else None

    def fileno(self) -> int | None:
        """Return the descriptor that becomes readable when `advance` will not block."""
        return self._connection.fileno() if self._error is None else None

    def advance(self) -> bool:
        """Do the work that must precede `result`."""
        return self._error is not None or self._connection.advance()

    def result(self, timeout: float | None = None) -> StepResult:
        """Wait for the reply and return the result of the step, even if it failed.

        Args:
            timeout: The seconds to wait from now on; None waits until the request's deadline.
        """
        if self._request is not None:
            self.send()
        if self._error is not None:
            return self._episode.fail(self._error, self._plan)
        try:
            reply = self._connection.gather(timeout)
        except (CompilerError, ServiceError) as error:
            return self._episode.fail(error, self._plan)
        return self._episode.conclude(reply, self._actions, self._plan)

    def abandon(self) -> None:
        """End the session without waiting for the reply. The environment can be reset."""
        self._connection.abandon()


class ResetPending:
    """A reset of `episode` to `program`. If its worker was lost, another is started once."""

    def __init__(
        self, episode: "Episode", program: Benchmark, request: Start, timeout: float | None
    ) -> None:
        self._episode = episode
        self._program = program
        self._request = request
        self._timeout = timeout
        self._is_sent = self._was_fresh = False
        self._error: ServiceError | None = None

    def send(self, *, later: bool = False) -> None:
        """Send the request to the session. Raises `ServiceError` if no session opens."""
        self._is_sent, self._error = True, None
        connection, self._was_fresh = self._episode.connect()
        try:
            connection.submit(self._request, self._timeout, later=later)
        except ServiceError as error:
            self._error = error

    @property
    def channel(self) -> Channel | None:
        """The channel that holds the request, if it was held back."""
        connection = self._connection
        return None if connection is None else connection.channel

    def fileno(self) -> int | None:
        """Return the descriptor that becomes readable when `advance` will not block."""
        connection = self._connection
        return None if connection is None else connection.fileno()

    def advance(self) -> bool:
        """Do the work that must precede `result`."""
        connection = self._connection
        return connection is None or connection.advance()

    def result(self) -> ResetResult:
        """Return the reset's result, or raise `BenchmarkInitError`."""
        return self._episode.start_episode(self.reply(), self._program)

    def reply(self) -> Reply:
        """Wait for the reply and return it; raise `BenchmarkInitError` if no session can start."""
        if not self._is_sent:
            self.send()
        while True:
            try:
                if self._error is not None:
                    raise self._error
                connection = self._episode.connection
                if connection is None:
                    raise ServiceIsClosed("the environment is closed")
                return connection.gather()
            except ServiceError as error:
                self._raise_if_final(error)
            self.send()

    @property
    def _connection(self) -> Connection | None:
        return self._episode.connection if self._error is None else None

    def _raise_if_final(self, error: ServiceError) -> None:
        if self._episode.connection is None:
            raise ServiceIsClosed("the environment was closed during its reset") from error
        timed_out = isinstance(error, WorkerTimeoutError)
        if isinstance(error, WorkerOutOfMemoryError) and self._was_fresh:
            raise BenchmarkOutOfMemoryError(
                f"cannot start on {self._program.uri}: {error}", limit_bytes=error.limit_bytes
            ) from error
        if self._was_fresh or timed_out:
            error_class = BenchmarkTimeoutError if timed_out else BenchmarkInitError
            raise error_class(f"cannot start on {self._program.uri}: {error}") from error
