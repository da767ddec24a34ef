# SPDX-License-Identifier: MIT
"""Sessions that are separate programs in any language: how to start them and read their output.

The program is a child of the zygote and a worker like those in Python: it has the same limits and
ends with its owner. It speaks the session protocol over a `Carrier`.
"""

import os
import signal
from enum import Enum
from pathlib import Path
from typing import NoReturn

from compiler_gym.service.worker import stand_alone

SESSION = "COMPILER_GYM_SESSION"
"""The variable with the address of the client: ``fd:3``, ``stdio`` or
``unix:PATH``."""
SCRATCH = "COMPILER_GYM_SCRATCH"
"""The variable with the folder for files. Files with a process id in their name, like
``1234-anything``, are removed when that process ends."""

_DESCRIPTOR = 3
_NOT_STARTED = 127
_KEPT_BYTES = 1 << 14
_KEPT_LINES = 12


class Carrier(Enum):
    """The transport of a program's messages."""

    DESCRIPTOR = "descriptor"
    """A socket that the program inherits; its number follows ``fd:``."""
    STDIO = "stdio"
    """Standard input and output. The program must print nothing else."""
    SOCKET = "socket"
    """A Unix socket at which the client listens; its path follows ``unix:``."""


class LastLines:
    """The end of a program's output, read from a pipe."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self.descriptor = descriptor
        """The reading end of the pipe."""
        self._data = b""

    def take(self) -> bool:
        """Read available output; return False at the end of the stream."""
        try:
            data = os.read(self.descriptor, 1 << 16)
        except BlockingIOError:
            return True
        self._data = (self._data + data)[-_KEPT_BYTES:]
        return bool(data)

    @property
    def text(self) -> str:
        """The last lines."""
        lines = self._data.decode(errors="replace").split("\n")
        return "\n".join([line for line in lines if line.strip()][-_KEPT_LINES:])


def become_program(
    command: list[str],
    carrier: Carrier,
    channel: int | str,
    *,
    scratch: Path,
    zygote: int,
    memory_bytes: int,
    printed: int | None,
) -> NoReturn:
    """Turn this process, which the zygote forked, into `command`.

    `channel` is the descriptor or the path of its socket. Output goes to the descriptor
    `printed`, or stays as it is.
    """
    scratch.mkdir(parents=True, exist_ok=True)
    stand_alone(zygote, memory_bytes)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if printed is not None:
        os.dup2(printed, 2)
        os.dup2(printed, 1)
    if isinstance(channel, str):
        address = f"unix:{channel}"
    elif carrier is Carrier.STDIO:
        os.dup2(channel, 0)
        os.dup2(channel, 1)
        address = "stdio"
    else:
        os.dup2(channel, _DESCRIPTOR)
        os.set_inheritable(_DESCRIPTOR, True)
        address = f"fd:{_DESCRIPTOR}"
    try:
        os.execvpe(command[0], command, {**os.environ, SESSION: address, SCRATCH: str(scratch)})
    except OSError as error:
        os.write(2, f"cannot start {command[0]}: {error.strerror}\n".encode())
    os._exit(_NOT_STARTED)


def sdk_path() -> Path:
    """Return the folder of the C++ header, the schema of the messages and the transcripts."""
    return Path(__file__).with_name("sdk")
