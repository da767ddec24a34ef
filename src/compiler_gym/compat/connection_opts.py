# SPDX-License-Identifier: MIT
"""The options of CompilerGym 0.2.5's connection to its server, for code that passes them.

There is no server: nothing is retried and no port is waited for. An environment accepts the
options, does nothing with them, and says which limits of today they were meant for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from compiler_gym.errors import CompilerGymWarning, InvalidParameterError, warn_of_the_caller
from compiler_gym.errors.records import Record

__all__ = ["ConnectionOpts", "explain"]


@dataclass(frozen=True, slots=True)
class ConnectionOpts(Record):
    """How 0.2.5 talked to its server. Every field is accepted, and none has an effect.

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
    """Warn that the options `given` have no effect, and say what has.

    Raises `InvalidParameterError` for anything that is neither `ConnectionOpts` nor its fields.
    """
    known = {each.name for each in fields(ConnectionOpts)}
    named: Any = given.dict() if isinstance(given, Record) else given
    if not isinstance(named, Mapping) or not set(named) <= known:  # pyright: ignore[reportUnknownArgumentType]  # a caller's
        raise InvalidParameterError(
            f"connection_settings is {given!r:.80}: expected a ConnectionOpts, or no such argument"
        )
    warn_of_the_caller(
        "connection_settings has no effect: there is no server to connect to; expected "
        "limits=compiler_gym.service.Limits(step_seconds=...) for the deadline of a request, and "
        "os.environ for what script_env held",
        CompilerGymWarning,
    )
