# SPDX-License-Identifier: MIT
"""Sessions that are programs of their own, in whatever language: how one is started and heard.

The program is a child of the zygote and a worker like those in Python: the same limits, the same
end with its owner. It speaks the session protocol over what `Carrier` names.
"""

import os
import signal
from enum import Enum
from pathlib import Path
from typing import NoReturn

from compiler_gym.service.worker import stand_alone

__all__ = ["SCRATCH", "SESSION", "Carrier", "LastLines", "become_program", "sdk_path"]

SESSION = "COMPILER_GYM_SESSION"
"""The variable that says where the program finds its client: ``fd:3``, ``stdio`` or
``unix:PATH``."""
SCRATCH = "COMPILER_GYM_SCRATCH"
"""The variable that names the folder for files. What is named after a process there, as
``1234-anything``, is removed when that process ends."""

_DESCRIPTOR = 3
_NOT_STARTED = 127
_KEPT_BYTES = 1 << 14
_KEPT_LINES = 12


class Carrier(Enum):
    """What carries the messages of a program."""

    DESCRIPTOR = "descriptor"
    """A socket that the program inherits: its number follows ``fd:``."""
    STDIO = "stdio"
    """Standard input and output. The program must print nothing else."""
    SOCKET = "socket"
    """A Unix socket at which the client listens: its path follows ``unix:``."""


class LastLines:
    """The end of what a program printed, read from a pipe."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self.descriptor = descriptor
        """The end of the pipe to read from."""
        self._data = b""

    def take(self) -> bool:
        """Read a piece of what is there; return whether there may be more."""
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

    `channel` is the descriptor of its socket, or the path of one. What it prints goes to the
    descriptor `printed`, or nowhere else than before.
    """
    scratch.mkdir(parents=True, exist_ok=True)
    stand_alone(zygote, memory_bytes)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if printed is not None:
        os.dup2(printed, 2)
        os.dup2(printed, 1)
    if isinstance(channel, str):
        where = f"unix:{channel}"
    elif carrier is Carrier.STDIO:
        os.dup2(channel, 0)
        os.dup2(channel, 1)
        where = "stdio"
    else:
        os.dup2(channel, _DESCRIPTOR)
        os.set_inheritable(_DESCRIPTOR, True)
        where = f"fd:{_DESCRIPTOR}"
    try:
        os.execvpe(command[0], command, {**os.environ, SESSION: where, SCRATCH: str(scratch)})
    except OSError as error:
        os.write(2, f"cannot start {command[0]}: {error.strerror}\n".encode())
    os._exit(_NOT_STARTED)


def sdk_path() -> Path:
    """Return the folder of the C++ header, the schema of the messages and the transcripts."""
    return Path(__file__).with_name("sdk")
