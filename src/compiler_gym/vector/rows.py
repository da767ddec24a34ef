# SPDX-License-Identifier: MIT
"""The sub-environments of a vector, and how their steps and resets begin.

A `CompilerEnv` without wrappers begins a step, and its worker computes while others are asked. An
environment with wrappers makes the whole step in a thread, because its wrappers take part.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from typing import Any, Generic, Protocol, TypeVar, cast

import gymnasium
import numpy as np
from numpy.typing import NDArray

from compiler_gym.core import (
    CompilerEnv,
    Lockstep,
    Pending,
    ResetArguments,
    ResetResult,
    StepTuple,
)

__all__ = ["DirectRow", "Rows", "ThreadRow", "VectorRow"]

_Result = TypeVar("_Result")
_PATIENCE_SECONDS = 0.05
"""How long to wait for a thread whose session was closed, before it is closed again."""


class VectorRow(Protocol):
    """A sub-environment, as the vector uses it."""

    env: Any
    """The sub-environment."""

    def takes(self, action: Any) -> bool:
        """Return whether `action` is one of the sub-environment's."""
        ...

    def begin_step(self, action: Any) -> Pending[StepTuple]:
        """Begin a step; a failure of the compiler is a result."""
        ...

    def begin_reset(self, seed: int | None, options: dict[str, Any] | None) -> Pending[ResetResult]:
        """Begin a reset, whose result may raise `BenchmarkInitError`."""
        ...

    def abandon(self) -> None:
        """Close the sub-environment, also while something is pending."""
        ...


class Rows:
    """The rows of a vector.

    Args:
        envs: The sub-environments. A copy or a pickle of the rows is made from copies of these.
        observations: The array that the rows write to, if their observations are arrays.
    """

    def __init__(self, envs: Sequence[Any], observations: Any) -> None:
        self._parts = envs, observations
        self._executor: ThreadPoolExecutor | None = None
        self._rows = [self._row(env) for env in envs]
        self.lockstep: Lockstep | None = None
        """Steps the rows together; None if one has wrappers, or observes anything but an array."""
        episodes = [row.env.episode for row in self._rows if isinstance(row, DirectRow)]
        if len(episodes) == len(envs) > 0 and isinstance(observations, np.ndarray):
            self.lockstep = Lockstep(episodes, cast("NDArray[Any]", observations))

    def __getitem__(self, number: int) -> VectorRow:
        return self._rows[number]

    def __iter__(self) -> Iterator[VectorRow]:
        return iter(self._rows)

    def __reduce__(self) -> tuple[Any, ...]:
        return Rows, self._parts

    def close(self) -> None:
        """End every session, also in the middle of a step, and the threads."""
        for row in self._rows:
            row.abandon()
        if self._executor is not None:
            self._executor.shutdown(wait=True)

    def _row(self, env: Any) -> VectorRow:
        if isinstance(env, CompilerEnv) and not isinstance(env, gymnasium.Wrapper):
            return DirectRow(cast("CompilerEnv", env))  # `isinstance` leaves its types unknown
        return ThreadRow(env, self._threads)

    def _threads(self) -> Executor:
        if self._executor is None:
            self._executor = ThreadPoolExecutor(len(self._rows), "vector-environment")
        return self._executor


class DirectRow:
    """A `CompilerEnv` without wrappers."""

    def __init__(self, env: CompilerEnv) -> None:
        self.env = env

    def takes(self, action: Any) -> bool:
        """Return whether `action` is one of the environment's."""
        return self.env.episode.selection.takes(action)

    def begin_step(self, action: Any) -> Pending[StepTuple]:
        """Begin a step."""
        return self.env.episode.begin([action])

    def begin_reset(self, seed: int | None, options: dict[str, Any] | None) -> Pending[ResetResult]:
        """Begin a reset."""
        return self.env.begin_reset(ResetArguments(seed, options))

    def abandon(self) -> None:
        """Close the environment and its worker, also in the middle of a request."""
        self.env.close()


class ThreadRow:
    """An environment with wrappers, used by one thread of `executor` at a time."""

    def __init__(self, env: gymnasium.Env[Any, Any], executor: Callable[[], Executor]) -> None:
        self.env: Any = env
        self._executor = executor
        self._running: Future[Any] | None = None

    def takes(self, action: Any) -> bool:
        """Return whether `action` is one of the environment's."""
        return bool(self.env.action_space.contains(action))

    def begin_step(self, action: Any) -> Pending[StepTuple]:
        """Begin a step, in a thread when it is sent."""
        return _ThreadPending(lambda: self._submit(self.env.step, action))

    def begin_reset(self, seed: int | None, options: dict[str, Any] | None) -> Pending[ResetResult]:
        """Begin a reset, in a thread when it is sent."""
        return _ThreadPending(lambda: self._submit(self.env.reset, seed=seed, options=options))

    def abandon(self) -> None:
        """Close the session that the thread waits for, then the environment."""
        future = self._running
        while True:  # the thread may be about to open a session
            self.env.unwrapped.close()
            if future is None or future.cancel() or wait([future], _PATIENCE_SECONDS).done:
                break
        self.env.close()

    def _submit(self, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
        future = self._running = self._executor().submit(call, *args, **kwargs)
        return future


class _ThreadPending(Generic[_Result]):
    """A step or a reset in a thread, which starts when it is sent."""

    channel = None

    def __init__(self, start: Callable[[], Future[_Result]]) -> None:
        self._start = start
        self._future: Future[_Result] | None = None

    def send(self, *, later: bool = False) -> None:
        """Start the thread, whatever `later` is."""
        self._future = self._start()

    def fileno(self) -> None:
        """Return None: a thread has no descriptor."""

    def advance(self) -> bool:
        """Return True: `result` waits for the thread."""
        return True

    def result(self) -> _Result:
        """Wait for the thread."""
        if self._future is None:
            self.send()
        assert self._future is not None
        return self._future.result()
