# SPDX-License-Identifier: MIT
"""The sub-environments of a vector, which start their steps and resets.

A `CompilerEnv` without wrappers sends a step to its worker and waits later, so that workers run
concurrently. An environment with wrappers runs the whole step in a thread, because the wrappers are
involved.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from typing import Any, Generic, Protocol, TypeVar, cast

import gymnasium

from compiler_gym.core import (
    CompilerEnv,
    Pending,
    ResetArguments,
    ResetResult,
    StepTuple,
)

__all__ = ["DirectRow", "Rows", "ThreadRow", "VectorRow"]

_Result = TypeVar("_Result")
_PATIENCE_SECONDS = 0.05
"""The seconds to wait for a thread after closing its session, before closing it again."""


class VectorRow(Protocol):
    """The vector's interface to a sub-environment."""

    env: Any
    """The sub-environment."""

    def takes(self, action: Any) -> bool:
        """Return True if `action` is in the sub-environment's action space."""
        ...

    def begin_step(self, action: Any) -> Pending[StepTuple]:
        """Begin a step; a failure of the compiler is a result, not an exception."""
        ...

    def begin_reset(self, seed: int | None, options: dict[str, Any] | None) -> Pending[ResetResult]:
        """Begin a reset; its ``result()`` may raise `BenchmarkInitError`."""
        ...

    def abandon(self) -> None:
        """Close the sub-environment, even during a step or reset."""
        ...


class Rows:
    """The rows of a vector.

    Args:
        envs: The sub-environments. A copy or pickle of the rows contains copies of these.
    """

    def __init__(self, envs: Sequence[Any]) -> None:
        self._envs = envs
        self._executor: ThreadPoolExecutor | None = None
        self._rows = [self._row(env) for env in envs]

    def __getitem__(self, number: int) -> VectorRow:
        return self._rows[number]

    def __iter__(self) -> Iterator[VectorRow]:
        return iter(self._rows)

    def __reduce__(self) -> tuple[Any, ...]:
        return Rows, (self._envs,)

    def close(self) -> None:
        """End every session, even in the middle of a step, and the threads."""
        for row in self._rows:
            row.abandon()
        if self._executor is not None:
            self._executor.shutdown(wait=True)

    def _row(self, env: Any) -> VectorRow:
        if isinstance(env, CompilerEnv) and not isinstance(env, gymnasium.Wrapper):
            # `isinstance` does not narrow the type arguments.
            return DirectRow(cast("CompilerEnv", env))
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
        """Return True if `action` is in the environment's action space."""
        return self.env.episode.selection.takes(action)

    def begin_step(self, action: Any) -> Pending[StepTuple]:
        """Begin a step."""
        return self.env.episode.begin([action])

    def begin_reset(self, seed: int | None, options: dict[str, Any] | None) -> Pending[ResetResult]:
        """Begin a reset."""
        return self.env.begin_reset(ResetArguments(seed, options))

    def abandon(self) -> None:
        """Close the environment and its worker, even in the middle of a request."""
        self.env.close()


class ThreadRow:
    """An environment with wrappers, which runs in one thread of `executor` at a time."""

    def __init__(self, env: gymnasium.Env[Any, Any], executor: Callable[[], Executor]) -> None:
        self.env: Any = env
        self._executor = executor
        self._running: Future[Any] | None = None

    def takes(self, action: Any) -> bool:
        """Return True if `action` is in the environment's action space."""
        return bool(self.env.action_space.contains(action))

    def begin_step(self, action: Any) -> Pending[StepTuple]:
        """Begin a step, which starts in a thread when it is sent."""
        return _ThreadPending(lambda: self._submit(self.env.step, action))

    def begin_reset(self, seed: int | None, options: dict[str, Any] | None) -> Pending[ResetResult]:
        """Begin a reset, which starts in a thread when it is sent."""
        return _ThreadPending(lambda: self._submit(self.env.reset, seed=seed, options=options))

    def abandon(self) -> None:
        """Close the session for which the thread waits, then the environment."""
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
        """Start the thread, also with `later`."""
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
