# SPDX-License-Identifier: MIT
"""One sub-environment of a vector: a step or a reset in two halves.

The first half says what to ask the worker, the second takes the reply: between them all
rows' requests are sent, and their workers compute. A wrapped environment does all of it in
a thread instead, because its wrappers want to be called in between.
"""

from collections.abc import Callable
from concurrent.futures import Executor, Future, wait
from typing import Any, Protocol

import gymnasium

from compiler_gym.core.env import CompilerEnv
from compiler_gym.core.plan import Plan
from compiler_gym.core.requests import StepResult
from compiler_gym.datasets import Benchmark
from compiler_gym.errors import (
    BenchmarkInitError,
    CompilerError,
    ServiceError,
    ServiceIsClosed,
    WorkerTimeoutError,
)
from compiler_gym.service import Connection
from compiler_gym.service.messages import Step

__all__ = ["DirectRow", "Row", "ThreadRow"]

ResetResult = tuple[Any, dict[str, Any]]
_PATIENCE_SECONDS = 0.05
"""How long a thread whose session was closed is waited for before that is done again."""


class Row(Protocol):
    """What a vector environment needs of a sub-environment."""

    env: Any
    """The sub-environment."""

    def takes(self, action: Any) -> bool:
        """Return whether `action` is one of the sub-environment's."""
        ...

    def begin_step(self, action: Any) -> Connection | None:
        """Prepare a step and return what is to be asked; None if only `end_step` waits.

        The request may be kept back, for `exchange` or `end_step` to send.
        """
        ...

    def end_step(self) -> StepResult:
        """Return its result; a failure of the compiler is one."""
        ...

    def begin_reset(self, seed: int | None, options: dict[str, Any] | None) -> Connection | None:
        """Prepare a reset, as `begin_step` does a step."""
        ...

    def end_reset(self) -> ResetResult:
        """Return its result, or raise `BenchmarkInitError`."""
        ...

    def abandon(self) -> None:
        """Close the sub-environment, also between the two halves."""
        ...


class DirectRow:
    """A `CompilerEnv` without wrappers."""

    def __init__(self, env: CompilerEnv) -> None:
        self.env = env
        self._failed: StepResult | None = None
        self._sent: tuple[Connection, list[Any], list[Any], Plan] | None = None
        self._program: Benchmark | None = None
        self._timeout: float | None = None
        self._was_fresh = False
        self._lost: Exception | None = None

    def takes(self, action: Any) -> bool:
        """Return whether `action` is one of the environment's."""
        env = self.env
        if type(action) is int and 0 <= action < env._plain_action_count:
            return True
        return env.action_space.contains(action)

    def begin_step(self, action: Any) -> Connection | None:
        """Prepare a step."""
        env, actions = self.env, [action]
        plain, plan = env._prepare(actions)
        connection = env._connection
        assert connection is not None
        self._sent, self._failed = (connection, actions, plain, plan), None
        try:
            connection.submit(Step(plain, plan.names), later=True)
        except (CompilerError, ServiceError) as error:
            self._failed = env._failed_step(error, plan)
            return None
        return connection

    def end_step(self) -> StepResult:
        """Return the step's result."""
        failed = self._failed
        if failed is not None:
            return failed
        env, sent = self.env, self._sent
        assert sent is not None
        connection, actions, plain, plan = sent
        try:
            reply = connection.gather()
        except (CompilerError, ServiceError) as error:
            return env._failed_step(error, plan)
        return env._conclude(reply, actions, plain, plan)

    def end_step_of(self, connection: Connection, action: int, plan: Plan) -> StepResult:
        """Return the result of a step that another prepared: one that says more than usual."""
        self._sent, self._failed = (connection, [action], [action], plan), None
        return self.end_step()

    def begin_reset(self, seed: int | None, options: dict[str, Any] | None) -> Connection | None:
        """Prepare a reset."""
        env = self.env
        self._program, self._timeout = env._prepare_reset(seed, options)
        request = env._start_request(self._program)
        connection = env._connect()
        self._was_fresh, self._lost = env._connection_is_fresh, None
        try:
            connection.submit(request, self._timeout, later=True)
        except ServiceError as error:
            self._lost = error
            return None
        return connection

    def end_reset(self) -> ResetResult:
        """Return the reset's result; a worker that was lost before is replaced once."""
        env, program = self.env, self._program
        assert program is not None
        try:
            if self._lost is not None:
                raise self._lost
            plain = env._begun(self._connection().gather(), program)
        except ServiceError as error:
            if env._connection is None:
                raise ServiceIsClosed("the environment was closed during its reset") from error
            if self._was_fresh or isinstance(error, WorkerTimeoutError):
                raise BenchmarkInitError(f"cannot start on {program.uri}: {error}") from error
            plain = env._begin(program, self._timeout)
        return env._plan.observe(plain), {"benchmark": str(program.uri)}

    def abandon(self) -> None:
        """Close the environment and its worker, also in the middle of a request."""
        self.env.close()

    def _connection(self) -> Connection:
        connection = self.env._connection
        if connection is None:
            raise ServiceIsClosed("the environment is closed")
        return connection


class ThreadRow:
    """An environment with wrappers, used by one thread of `executor` at a time."""

    def __init__(self, env: gymnasium.Env[Any, Any], executor: Callable[[], Executor]) -> None:
        self.env: Any = env
        self._executor = executor
        self._future: Future[Any] | None = None
        self._running: Future[Any] | None = None

    def takes(self, action: Any) -> bool:
        """Return whether `action` is one of the environment's."""
        return self.env.action_space.contains(action)  # type: ignore[no-any-return]

    def begin_step(self, action: Any) -> None:
        """Step in a thread, now."""
        self._future = self._running = self._executor().submit(self.env.step, action)

    def end_step(self) -> StepResult:
        """Wait for the thread."""
        return self._result()

    def begin_reset(self, seed: int | None, options: dict[str, Any] | None) -> None:
        """Reset in a thread."""
        self._future = self._running = self._executor().submit(
            self.env.reset, seed=seed, options=options
        )

    def end_reset(self) -> ResetResult:
        """Wait for the thread."""
        return self._result()

    def abandon(self) -> None:
        """End what the thread waits for, then close."""
        future = self._running
        while True:  # the thread may be about to open a session
            self.env.unwrapped.close()
            if future is None or future.cancel() or wait([future], _PATIENCE_SECONDS).done:
                break
        self.env.close()

    def _result(self) -> Any:
        future, self._future = self._future, None
        assert future is not None
        return future.result()
