# SPDX-License-Identifier: MIT
"""Steps of many environments at once, taken as they finish: for search, not for batches."""

import select
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self

from compiler_gym.core.env import CompilerEnv
from compiler_gym.core.requests import StepResult
from compiler_gym.errors import (
    CompilerError,
    InvalidActionError,
    InvalidParameterError,
    ServiceError,
)
from compiler_gym.service.messages import Step

__all__ = ["StepPool"]

_LONG_SECONDS = 3600.0
"""What is slept at most at a time; there are deadlines without an end."""


@dataclass(frozen=True, slots=True)
class _Pending:
    env: CompilerEnv
    actions: list[Any]
    plain: list[Any]
    plan: Any
    deadline: float


class StepPool:
    """Submit actions to environments and get back whichever is done first.

        >>> import compiler_gym
        >>> first = compiler_gym.make("llvm-ic-v0"); _ = first.reset()
        >>> with StepPool() as pool, first, first.fork() as second:
        ...     pool.submit(first, [0, 1]); pool.submit(second, [2])
        ...     done = [env for env, result in pool.as_completed()]
        >>> len(done)
        2

    Results are those of `multistep`. An environment is used by the pool alone from
    `submit` until its result is taken. One thread uses a pool.
    """

    def __init__(self) -> None:
        self._pending: dict[int, _Pending] = {}
        self._ready: list[tuple[CompilerEnv, StepResult]] = []
        self._poll = select.poll()

    def submit(
        self, env: CompilerEnv, actions: Iterable[Any], timeout: float | None = None
    ) -> None:
        """Begin a `multistep`. Raises as it does, and for an environment that is busy."""
        base = env.unwrapped
        if base is not env:
            raise InvalidParameterError(f"a pool steps environments without wrappers, found {env}")
        if any(pending.env is env for pending in self._pending.values()):
            raise InvalidParameterError(f"{env} is busy: expected its result to be taken first")
        several = list(actions)
        for action in several:
            if not env.action_space.contains(action):
                raise InvalidActionError(f"{action!r} is not an action of {env.action_space!r}")
        plain, plan = env._prepare(several)
        connection = env._connection
        assert connection is not None
        try:
            connection.submit(Step(plain, plan.names), timeout)
        except (CompilerError, ServiceError) as error:
            self._ready.append((env, env._failed_step(error, plan)))
            return
        seconds = env.limits.step_seconds if timeout is None else timeout
        pending = _Pending(env, several, plain, plan, time.monotonic() + seconds)
        number = connection.fileno()
        if number is None:  # what is known, or done by a session in this process
            self._ready.append((env, self._conclude(pending)))
            return
        self._pending[number] = pending
        self._poll.register(number, select.POLLIN)

    def next(self) -> tuple[CompilerEnv, StepResult]:
        """Return the next environment that is done, and its result.

        Raises `InvalidParameterError` when nothing was submitted.
        """
        while not self._ready:
            if not self._pending:
                raise InvalidParameterError("nothing is under way: expected submit() first")
            self._wait()
        return self._ready.pop(0)

    def as_completed(self) -> Iterator[tuple[CompilerEnv, StepResult]]:
        """Yield environments and results as they are done; more may be submitted meanwhile."""
        while len(self):
            yield self.next()

    def __len__(self) -> int:
        return len(self._pending) + len(self._ready)

    def close(self) -> None:
        """End the sessions of what is under way; their environments can be reset."""
        pending, self._pending = self._pending, {}
        for number, one in pending.items():
            self._poll.unregister(number)
            if one.env._connection is not None:
                one.env._connection.abandon()
        self._ready.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *args: Any) -> None:
        self.close()

    def _wait(self) -> None:
        """Wait for a reply or a deadline, and take what is there."""
        nearest = min(pending.deadline for pending in self._pending.values())
        seconds = min(max(nearest - time.monotonic(), 0.0), _LONG_SECONDS)
        done = [number for number, _ in self._poll.poll(seconds * 1000 + 1)]
        late = [n for n, one in self._pending.items() if one.deadline <= time.monotonic()]
        for number in dict.fromkeys((*done, *late)):
            connection = self._pending[number].env._connection
            if number not in late and connection is not None and not connection.advance():
                continue
            self._poll.unregister(number)
            pending = self._pending.pop(number)
            self._ready.append((pending.env, self._conclude(pending, is_late=number not in done)))

    def _conclude(self, pending: _Pending, *, is_late: bool = False) -> StepResult:
        env, connection = pending.env, pending.env._connection
        assert connection is not None
        try:
            reply = connection.gather(0.0 if is_late else None)
        except (CompilerError, ServiceError) as error:
            return env._failed_step(error, pending.plan)
        return env._conclude(reply, pending.actions, pending.plain, pending.plan)
