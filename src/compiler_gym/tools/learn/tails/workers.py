# SPDX-License-Identifier: MIT
"""Worker processes for functions that may crash or hang, such as those that run passes.

The functions must be importable, and their arguments and results plain values.
"""

import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing.context import SpawnContext, SpawnProcess
from types import ModuleType
from typing import Any, TypeVar

from compiler_gym.errors import CompilerGymError, EnvironmentNotSupported, InvalidParameterError

__all__ = ["call_each", "call_each_on_ray"]

_Result = TypeVar("_Result")
_WAITING = 4
"""The calls for each process that are made again if one of them ends a process."""
_UNUSED = ("pandas", "sklearn", "pyarrow", "matplotlib")
"""LightGBM would import those that are installed, which takes seconds, and works without."""


def call_each(
    function: Callable[..., _Result],
    calls: Sequence[tuple[Any, ...]],
    *,
    jobs: int = 2,
    seconds: int = 120,
) -> Iterator[_Result | None]:
    """Yield the result of each call in order; None if it failed, crashed or took too long."""
    pool = _make_pool(jobs)
    try:
        for start in range(0, len(calls), jobs * _WAITING):
            group = calls[start : start + jobs * _WAITING]
            try:
                yield from _call(pool, function, group, seconds)
            except BrokenProcessPool:
                for call in group:
                    pool = _make_pool(1)
                    try:
                        yield from _call(pool, function, [call], seconds)
                    except BrokenProcessPool:
                        yield None
                    pool.shutdown()
                pool = _make_pool(jobs)
    finally:
        pool.shutdown(cancel_futures=True)


class _Process(SpawnProcess):
    """A process that does not run the caller's script first, which could be without a guard."""

    def start(self) -> None:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            super().start()
        finally:
            sys.modules["__main__"] = main


class _Context(SpawnContext):
    Process = _Process


def call_each_on_ray(
    function: Callable[..., _Result], calls: Sequence[tuple[Any, ...]], *, seconds: int = 120
) -> Iterator[_Result | None]:
    """Like `call_each`, with the calls as tasks of a Ray cluster."""
    from compiler_gym.tools.learn.integrations import spread_tasks

    done: dict[int, _Result | None] = {}
    following = 0
    work = partial(_call_numbered, seconds, function)
    for (number, _), result in spread_tasks(list(enumerate(calls)), work, retries=1):
        if cause := getattr(result, "cause", None):  # the call's own exception
            raise cause
        done[number] = None if isinstance(result, Exception) else result
        while following in done:
            yield done.pop(following)
            following += 1


def _call_numbered(
    seconds: int, function: Callable[..., _Result], call: tuple[int, tuple[Any, ...]]
) -> _Result | None:
    return _call_within(seconds, function, *call[1])


def _make_pool(jobs: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(jobs, mp_context=_Context(), initializer=_leave_out_unused)


def _leave_out_unused() -> None:
    modules: dict[str, Any] = sys.modules
    modules.update(dict.fromkeys(_UNUSED))  # importing any of them fails


def _call(
    pool: ProcessPoolExecutor,
    function: Callable[..., _Result],
    calls: Sequence[tuple[Any, ...]],
    seconds: int,
) -> list[_Result | None]:
    futures = [pool.submit(_call_within, seconds, function, *call) for call in calls]
    return [future.result() for future in futures]


def _call_within(seconds: int, function: Callable[..., _Result], *arguments: Any) -> _Result | None:
    signal.alarm(seconds)  # without a handler, it ends the process
    try:
        return function(*arguments)
    except (EnvironmentNotSupported, InvalidParameterError):
        raise
    except CompilerGymError:
        return None
    finally:
        signal.alarm(0)
