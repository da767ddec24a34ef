# SPDX-License-Identifier: MIT
"""Names of the package in CompilerGym 0.2.5: connection options, debug levels and type hints."""

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from compiler_gym.errors import CompilerGymWarning, InvalidParameterError, warn_of_the_caller
from compiler_gym.errors.records import Record


@dataclass(frozen=True, slots=True)
class ConnectionOpts(Record):
    """The connection settings of 0.2.5. All fields are accepted; none has an effect.

    >>> ConnectionOpts(rpc_max_retries=3).rpc_max_retries
    3
    """

    rpc_max_retries: int = 5
    retry_wait_seconds: float = 0.1
    retry_wait_backoff_exponent: float = 1.5
    init_max_seconds: float = 30
    init_max_attempts: int = 5
    local_service_port_init_max_seconds: float = 30
    local_service_exit_max_seconds: float = 30
    rpc_init_max_seconds: float = 3
    always_send_benchmark_on_reset: bool = False
    script_args: Sequence[str] = ()
    script_env: Mapping[str, str] = field(default_factory=dict[str, str])


def explain(given: Any) -> None:
    """Warn that the options `given` have no effect, and name their replacements.

    Raises `InvalidParameterError` for anything that is neither `ConnectionOpts` nor its fields.
    """
    names = {field.name for field in fields(ConnectionOpts)}
    options: Any = given.dict() if isinstance(given, Record) else given
    if not isinstance(options, Mapping) or not set(options) <= names:  # pyright: ignore[reportUnknownArgumentType]  # a caller's
        raise InvalidParameterError(
            f"connection_settings must be a ConnectionOpts, or be omitted (got {given!r:.80})"
        )
    warn_of_the_caller(
        "connection_settings has no effect, because there is no server to connect to: use "
        "limits=compiler_gym.service.Limits(step_seconds=...) for the deadline of a request, and "
        "os.environ instead of script_env",
        CompilerGymWarning,
    )


_VARIABLE = "COMPILER_GYM_DEBUG"
_LOG_LEVELS = (logging.ERROR, logging.WARNING, logging.INFO, logging.DEBUG)


def get_debug_level() -> int:
    """Return the debug level: ``COMPILER_GYM_DEBUG``, or 0. Greater numbers count as 3.

    Raises `InvalidParameterError` if the variable is not a number.
    """
    text = os.environ.get(_VARIABLE) or "0"
    if not text.isdecimal():
        raise InvalidParameterError(f"{_VARIABLE} must be a number from 0 to 3 (got {text!r})")
    return min(int(text), len(_LOG_LEVELS) - 1)


def set_debug_level(level: int) -> None:
    """Set the debug level of this process and of those that it starts later."""
    is_integer = isinstance(level, int)  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
    if isinstance(level, bool) or not is_integer or level < 0:
        raise InvalidParameterError(f"the debug level must be a number from 0 to 3 (got {level!r})")
    os.environ[_VARIABLE] = str(level)
    logging.getLogger("compiler_gym").setLevel(get_logging_level())


def get_logging_level() -> int:
    """Return the level of `logging` for the debug level: 0 is ``logging.ERROR``."""
    return _LOG_LEVELS[get_debug_level()]


def logging_level_to_debug_level(logging_level: int) -> int:
    """Return the lowest debug level that shows messages of `logging_level`.

    >>> logging_level_to_debug_level(logging.INFO)
    2
    """
    shown = (debug for debug, level in enumerate(_LOG_LEVELS) if level <= logging_level)
    return next(shown, len(_LOG_LEVELS) - 1)


ActionType = Any
"""An action; its type depends on the action space."""
ObservationType = Any
"""An observation; its type depends on the observation space."""
RewardType = float | None
"""The reward of a step; None without a reward space."""
StepType = tuple[Any, Any, bool, bool, dict[str, Any]]
"""The five values of a step, as in Gymnasium."""
