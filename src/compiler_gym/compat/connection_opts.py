# SPDX-License-Identifier: MIT
"""The options of CompilerGym 0.2.5's connection to its server, for code that passes them.

There is no server, so there are no retries and no port. An environment accepts the options,
ignores them, and names the limits that replace them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from compiler_gym.errors import CompilerGymWarning, InvalidParameterError, warn_of_the_caller
from compiler_gym.errors.records import Record

__all__ = ["ConnectionOpts", "explain"]


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
