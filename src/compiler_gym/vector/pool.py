# SPDX-License-Identifier: MIT
"""Steps of many environments at once, in order of completion: for searches, not batches."""

import select
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self

from compiler_gym.core import CompilerEnv, StepPending, StepTuple
from compiler_gym.errors import InvalidActionError, InvalidParameterError

_LONG_SECONDS = 3600.0
"""The longest sleep; a deadline may be infinite."""


@dataclass(frozen=True, slots=True)
class _Submitted:
    env: CompilerEnv
    pending: StepPending
    deadline: float


class StepPool:
    """A pool that steps environments concurrently and returns results in order of completion.

        >>> import compiler_gym
        >>> first = compiler_gym.make("llvm-ic-v0"); _ = first.reset()
        >>> with StepPool() as pool, first, first.fork() as second:
        ...     pool.submit(first, [0, 1]); pool.submit(second, [2])
        ...     done = [env for env, result in pool.as_completed()]
        >>> len(done)
        2

    Results are those of `multistep`. Do not use an environment between `submit` and its result.
    A pool is not thread-safe.
    """

    def __init__(self) -> None:
        self._submitted: dict[int, _Submitted] = {}
        self._ready: list[tuple[CompilerEnv, StepTuple]] = []
        self._poll = select.poll()

    def submit(
        self, env: CompilerEnv, actions: Iterable[Any], timeout: float | None = None
    ) -> None:
        """Start a `multistep` in `env`.

        Args:
            env: An environment without wrappers.
            actions: The actions, in order.
            timeout: The time limit in seconds; None uses ``env.limits.step_seconds``.

        Raises:
            InvalidParameterError: `env` has wrappers, or its last result is still pending.
            InvalidActionError: An action is not in the action space.
        """
        if env.unwrapped is not env:
            raise InvalidParameterError(
                f"a pool cannot step wrappers (got {env}); submit env.unwrapped"
            )
        if any(item.env is env for item in self._submitted.values()):
            raise InvalidParameterError(f"{env} is busy; take its result first")
        listed = list(actions)
        for action in listed:
            if not env.action_space.contains(action):
                raise InvalidActionError(f"{action!r} is not an action of {env.action_space!r}")
        pending = env.episode.begin(listed, timeout=timeout)
        pending.send()
        number = pending.fileno()
        if number is None:  # cached, failed, or done by a session in this process
            self._ready.append((env, pending.result()))
            return
        seconds = env.limits.step_seconds if timeout is None else timeout
        self._submitted[number] = _Submitted(env, pending, time.monotonic() + seconds)
        self._poll.register(number, select.POLLIN)

    def next(self) -> tuple[CompilerEnv, StepTuple]:
        """Wait for the next result, and return its environment and the result.

        Raises:
            InvalidParameterError: Nothing was submitted.
        """
        while not self._ready:
            if not self._submitted:
                raise InvalidParameterError("no step is pending; call submit() first")
            self._wait()
        return self._ready.pop(0)

    def as_completed(self) -> Iterator[tuple[CompilerEnv, StepTuple]]:
        """Yield environments and results in order of completion. You may submit more meanwhile."""
        while len(self):
            yield self.next()

    def __len__(self) -> int:
        return len(self._submitted) + len(self._ready)

    def close(self) -> None:
        """End the sessions of unfinished steps. Their environments can be reset."""
        submitted, self._submitted = self._submitted, {}
        for number, step in submitted.items():
            self._poll.unregister(number)
            step.pending.abandon()
        self._ready.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *args: Any) -> None:
        self.close()

    def _wait(self) -> None:
        """Wait for a reply or a deadline, and read the replies that have arrived."""
        nearest = min(item.deadline for item in self._submitted.values())
        seconds = min(max(nearest - time.monotonic(), 0.0), _LONG_SECONDS)
        done = [number for number, _ in self._poll.poll(seconds * 1000 + 1)]
        late = [n for n, item in self._submitted.items() if item.deadline <= time.monotonic()]
        for number in dict.fromkeys((*done, *late)):
            step = self._submitted[number]
            if number not in late and not step.pending.advance():
                continue
            self._poll.unregister(number)
            del self._submitted[number]
            is_late = number not in done
            self._ready.append((step.env, step.pending.result(0.0 if is_late else None)))
