# SPDX-License-Identifier: MIT
"""Sessions in isolated processes.

``messages`` defines requests and replies, ``transport`` carries them, ``servicer`` answers them
with a session, ``worker`` is the process that does so, ``zygote`` forks workers, ``supervisor``
owns the zygotes of this process, ``kept_programs`` what they keep loaded for resets, ``limits``
holds a worker to what it may use, ``connection`` is the one side an environment sees, ``client``
and ``local`` are it with a process and without, and ``dispatch`` is for several at once.
``caching`` remembers results, and ``sdk`` is for compilers in other languages.
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
from compiler_gym.service.busy_workers import busy_workers
from compiler_gym.service.client import WorkerConnection, describe_source
from compiler_gym.service.connection import Connection
from compiler_gym.service.dispatch import exchange, finish
from compiler_gym.service.limits import bind_to_parent, run_child
from compiler_gym.service.local import LocalConnection
from compiler_gym.service.supervisor import SessionSource, shut_down
from compiler_gym.service.transport import Channel
from compiler_gym.session import CompilerSession as CompilationSession

if TYPE_CHECKING:
    ConnectionOpts: type[Any]  # of 0.2.5, which `compat` holds

__all__ = [
    "Channel",
    "CompilationSession",
    "Connection",
    "ConnectionOpts",
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
    "bind_to_parent",
    "busy_workers",
    "describe_source",
    "exchange",
    "finish",
    "run_child",
    "shut_down",
]

__getattr__ = door(__name__, {"ConnectionOpts": "compiler_gym.compat"})
