# SPDX-License-Identifier: MIT
"""Validate many states in parallel, each in its own environments."""

import inspect
import os
import time
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from typing import Any

from compiler_gym.core import CompilerEnv, CompilerEnvState
from compiler_gym.errors import CompilerGymError, UnknownNameError
from compiler_gym.validation.ladder import REPLAY
from compiler_gym.validation.result import RungResult, ValidationError, ValidationResult, Verdict
from compiler_gym.validation.trouble import machine_trouble

__all__ = ["validate_states"]


def validate_states(
    make_env: Callable[[], CompilerEnv],
    states: Iterable[CompilerEnvState],
    nproc: int | None = None,
    inorder: bool = False,
    **options: Any,
) -> Generator[ValidationResult, None, None]:
    """Yield a result for each of `states` as soon as it is ready.

    `nproc` states are validated in parallel (default: one per processor). With `inorder`
    the results come in the order of the states. `options` are passed to ``env.validate``;
    raises `UnknownNameError` for the name of a check that does not exist. A state that
    cannot be validated gives a result with the error in it. Closing the iterator stops
    after the states in progress.
    """
    jobs = nproc or len(os.sched_getaffinity(0))
    pool = ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="validate")
    source = iter(states)
    waiting: list[Future[ValidationResult]] = []
    try:
        while True:
            while len(waiting) < 2 * jobs and (state := next(source, None)) is not None:
                # The sandbox chosen by the caller applies in the threads too.
                job = copy_context().run
                waiting.append(pool.submit(job, _validate, make_env, state, options))
            if not waiting:
                return
            for future in [waiting[0]] if inorder else _wait_for_one(waiting):
                waiting.remove(future)
                yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _wait_for_one(waiting: list[Future[ValidationResult]]) -> list[Future[ValidationResult]]:
    done, _ = wait(waiting, return_when=FIRST_COMPLETED)
    return [future for future in waiting if future in done]


def _validate(
    make_env: Callable[[], CompilerEnv], state: CompilerEnvState, options: dict[str, Any]
) -> ValidationResult:
    started = time.monotonic()
    try:
        with make_env() as env:
            return env.validate(state, **_normalise(env, options))
    except (CompilerGymError, OSError, MemoryError) as error:
        if isinstance(error, UnknownNameError) and options.get("rungs") is not None:
            raise  # the request is wrong, not the state
        if trouble := machine_trouble(error):
            seconds = time.monotonic() - started
            unknown = RungResult(REPLAY, Verdict.UNKNOWN, seconds, f"not replayed: {trouble}")
            return ValidationResult(state, seconds, rungs=(unknown,))
        if not isinstance(error, CompilerGymError):
            raise
        finding = ValidationError(
            "the state cannot be validated",
            {"error": type(error).__name__, "details": str(error)},
        )
        return ValidationResult(state, 0.0, actions_replay_failed=True, errors=(finding,))


def _normalise(env: CompilerEnv, options: dict[str, Any]) -> dict[str, Any]:
    """Return `options` without ``rungs=None`` if the environment has only one check."""
    accepts = inspect.signature(env.unwrapped.validate).parameters  # type: ignore[attr-defined]  # ours has it
    if "rungs" in accepts or "rungs" not in options:
        return options
    if options["rungs"] is not None:
        raise UnknownNameError("this environment has only one check: do not name any")
    return {name: value for name, value in options.items() if name != "rungs"}
