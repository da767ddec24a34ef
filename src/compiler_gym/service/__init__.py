# SPDX-License-Identifier: MIT
"""Sessions in isolated processes.

``messages`` defines requests and replies, ``transport`` carries them, ``servicer`` answers them
from a session, ``worker`` is the process that runs the servicer, ``zygote`` forks workers, and
``supervisor`` owns the zygotes. ``kept_programs`` lists the programs that zygotes keep loaded for
resets, and ``limits`` enforces the limits of a worker. Environments use ``connection``, which has a
session in this process, too: ``client`` implements it with a worker, and ``dispatch`` serves
several at once. ``caching`` remembers results, and ``foreign`` is for compilers in other languages.
"""

from typing import TYPE_CHECKING, Any

from compiler_gym.errors import (
    EnvironmentNotSupported,
    ServiceError,
    ServiceInitError,
    ServiceIsClosed,
    ServiceOSError,
    ServiceTransportError,
    SessionNotFound,
)
from compiler_gym.lazy import door
from compiler_gym.options import Limits
from compiler_gym.service.client import WorkerConnection, describe_source
from compiler_gym.service.connection import Connection, LocalConnection
from compiler_gym.service.dispatch import busy_workers, exchange, finish
from compiler_gym.service.limits import bind_to_parent, run_child
from compiler_gym.service.supervisor import SessionSource, shut_down
from compiler_gym.service.transport import Channel
from compiler_gym.session import CompilerSession as CompilationSession

if TYPE_CHECKING:
    from compiler_gym.service.foreign import sdk_path
    from compiler_gym.service.messages import Description, decode_reply, encode
    from compiler_gym.service.supervisor import (
        ZygoteHandle,
        describe_status,
        last_words,
        zygote_for,
    )

    ConnectionOpts: type[Any]  # from CompilerGym 0.2.5; defined in `compat`

__all__ = [
    "Channel",
    "CompilationSession",
    "Connection",
    "ConnectionOpts",
    "Description",
    "EnvironmentNotSupported",
    "Limits",
    "LocalConnection",
    "ServiceError",
    "ServiceInitError",
    "ServiceIsClosed",
    "ServiceOSError",
    "ServiceTransportError",
    "SessionNotFound",
    "SessionSource",
    "WorkerConnection",
    "ZygoteHandle",
    "bind_to_parent",
    "busy_workers",
    "decode_reply",
    "describe_source",
    "describe_status",
    "encode",
    "exchange",
    "finish",
    "last_words",
    "run_child",
    "sdk_path",
    "shut_down",
    "zygote_for",
]

__getattr__ = door(__name__, {"ConnectionOpts": "compiler_gym.compat"})
