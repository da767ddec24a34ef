# SPDX-License-Identifier: MIT
"""The rows of a vector: their environments, programs, durations and results.

A `CompilerEnv` without wrappers sends a step to its worker and waits later, so that workers run
concurrently. An environment with wrappers runs the whole step in a thread, because the wrappers are
involved. `Batch` has preallocated arrays, a sampler draws the program of a row's next episode, and
`Durations` estimates the duration of a step from earlier steps.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from copy import deepcopy
from typing import Any, Generic, Protocol, TypeVar, cast

import gymnasium
import numpy as np
from gymnasium.vector.utils import concatenate, create_empty_array
from numpy.typing import NDArray

from compiler_gym.core import (
    CompilerEnv,
    Pending,
    ResetArguments,
    ResetResult,
    StepTuple,
)
from compiler_gym.datasets import Benchmark, BenchmarkUri, Dataset
from compiler_gym.errors import InvalidParameterError

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


_USUAL = dict.fromkeys(("action_had_no_effect", "new_action_space")).keys()
"""The keys of an info after a successful step; their values are booleans."""


class Batch:
    """The last observations, rewards and episode ends of `count` rows."""

    def __init__(self, observation_space: gymnasium.Space[Any], count: int) -> None:
        self._space = observation_space
        self.observations: Any = create_empty_array(observation_space, n=count, fn=np.zeros)
        """The observations: an array, or a structure of arrays, with a row per environment."""
        self._is_array = isinstance(self.observations, np.ndarray)
        self._observations: list[Any] = [None] * count
        self.rewards: NDArray[np.float64] = np.zeros(count)
        """The rewards of the rows, float64[rows]."""
        self._terminations = [False] * count
        self._truncations = [False] * count

    def enter(self, row: int, obs: Any, reward: float, terminated: bool, truncated: bool) -> None:
        """Store the result of one row."""
        self.see(row, obs)
        self.rewards[row] = reward
        self._terminations[row] = terminated
        self._truncations[row] = truncated

    def see(self, row: int, obs: Any) -> None:
        """Store the observation of one row."""
        if self._is_array:
            self.observations[row] = obs
        else:
            self._observations[row] = obs

    def observe(self, *, copy: bool) -> Any:
        """Return the observations of all rows: the same arrays each time, or a copy."""
        if self._is_array:
            return self.observations.copy() if copy else self.observations
        self.observations = concatenate(self._space, self._observations, self.observations)
        return deepcopy(self.observations) if copy else self.observations

    def ends(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the terminations and the truncations, bool[rows] each."""
        return (
            np.array(self._terminations, dtype=np.bool_),
            np.array(self._truncations, dtype=np.bool_),
        )

    def find_ended(self) -> list[int]:
        """Return the numbers of the rows whose episodes have ended."""
        if True not in self._terminations and True not in self._truncations:
            return []
        ends = zip(self._terminations, self._truncations, strict=True)
        return [row for row, (terminated, truncated) in enumerate(ends) if terminated or truncated]


def infos_as_usual(dicts: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the infos of all rows as arrays, or None if any has unusual keys.

    >>> infos_as_usual([{"action_had_no_effect": True, "new_action_space": False}])
    {'action_had_no_effect': array([ True]), '_action_had_no_effect': array([ True]), \
'new_action_space': array([False]), '_new_action_space': array([ True])}
    """
    if not all(info.keys() == _USUAL and set(map(type, info.values())) == {bool} for info in dicts):
        return None
    infos: dict[str, Any] = {}
    for key in _USUAL:
        infos[key] = np.array([info[key] for info in dicts], dtype=np.bool_)
        infos[f"_{key}"] = np.ones(len(dicts), dtype=np.bool_)
    return infos


_RATE = 0.3
"""The learning rate: the fraction of an error by which to correct an estimate."""

_MOST_ACTIONS = 1 << 14
"""The maximum number of actions with separate estimates."""


class Durations:
    """The estimated durations of steps, from the pace of each row and the effort of each action.

    >>> durations = Durations(2)
    >>> for _ in range(20):
    ...     for action in (0, 1):
    ...         durations.learn([0, 1], [action] * 2, [(action + 1) * 1e-3, (action + 1) * 1e-2])
    >>> first, second = durations.guess([0, 1], [0, 1])
    >>> round(second / first)
    20
    """

    def __init__(self, rows: int) -> None:
        self._pace = [math.log(1e-3)] * rows
        self._effort: dict[Any, float] = {}

    def guess(self, rows: Iterable[int], actions: Iterable[Any]) -> list[float]:
        """Return the estimated seconds of each action; only integers have separate estimates."""
        pace, effort = self._pace, self._effort
        return [
            math.exp(pace[row] + (effort.get(action, 0.0) if type(action) is int else 0.0))
            for row, action in zip(rows, actions, strict=True)
        ]

    def learn(self, rows: Iterable[int], actions: Iterable[Any], seconds: Iterable[float]) -> None:
        """Correct the estimates with the measured seconds of each action; 0 means unknown."""
        pace, effort = self._pace, self._effort
        for row, action, measured in zip(rows, actions, seconds, strict=True):
            if not measured:
                continue
            is_known = type(action) is int and action in effort
            expected = pace[row] + (effort[action] if is_known else 0.0)
            error = math.log(measured) - expected
            if is_known:
                pace[row] += _RATE / 2 * error
                effort[action] += _RATE * error
            elif type(action) is not int:
                pace[row] += _RATE * error
            elif len(effort) < _MOST_ACTIONS:
                effort[action] = error


Sampler = Callable[[np.random.Generator], str | Benchmark]
"""A function from a random generator to a program."""


def make_sampler(
    choice: Sampler | Sequence[Any] | None,
) -> Callable[[CompilerEnv], str | Benchmark] | None:
    """Return a function that draws a program for an environment, with its random generator.

    Args:
        choice: A function of a random generator, or a sequence of programs and datasets, as objects
            or addresses. Each item is equally likely, and so is each program of a dataset.

    Raises:
        InvalidParameterError: `choice` is neither, or is empty.
    """
    if choice is None:
        return None
    if callable(choice):
        return _Drawn(choice)
    items = list(choice) if not isinstance(choice, str) else []
    if not items:
        raise InvalidParameterError(
            f"sampler must be a function or a list of programs and datasets (got {choice!r})"
        )
    return _Listed(items)


class _Drawn:
    """A sampler that draws with a function."""

    def __init__(self, draw: Sampler) -> None:
        self._draw = draw

    def __call__(self, env: CompilerEnv) -> str | Benchmark:
        return self._draw(env.np_random)


class _Listed:
    """A sampler that draws from programs and datasets."""

    def __init__(self, items: list[Any]) -> None:
        self._items = items

    def __call__(self, env: CompilerEnv) -> str | Benchmark:
        item = self._items[int(env.np_random.integers(len(self._items)))]
        if isinstance(item, Dataset):
            return item.random_benchmark(env.np_random)
        if isinstance(item, str) and not BenchmarkUri.from_string(item).path.strip("/"):
            return env.datasets[item].random_benchmark(env.np_random)
        return item
