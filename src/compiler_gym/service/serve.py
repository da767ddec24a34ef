# SPDX-License-Identifier: MIT
"""``python -m compiler_gym.service.serve PACKAGE.MODULE:CLASS``: a session class as a program.

It speaks the session protocol as a program in another language does, and is the worker that
environments use without it.
"""

import os
import socket
import sys
from pathlib import Path

from compiler_gym.errors import CompilerGymError
from compiler_gym.service.foreign import SCRATCH, SESSION
from compiler_gym.service.transport import Channel
from compiler_gym.service.worker import Worker
from compiler_gym.service.zygote import prepare_session_class

__all__ = ["main", "open_session_socket"]


def main() -> None:
    """Serve the class that the first argument names; further ones are options, ``name=value``."""
    where, scratch = os.environ.get(SESSION), os.environ.get(SCRATCH)
    if len(sys.argv) < 2 or where is None or scratch is None:
        sys.exit(
            "usage: python -m compiler_gym.service.serve PACKAGE.MODULE:CLASS [NAME=VALUE ...]\n"
            f"expected to be started by compiler_gym, which sets {SESSION} and {SCRATCH}: "
            "compiler-gym conformance -- python -m compiler_gym.service.serve ..."
        )
    options = {name: value for name, _, value in (word.partition("=") for word in sys.argv[2:])}
    try:
        session_class = prepare_session_class(sys.argv[1], options)
    except (CompilerGymError, ImportError, AttributeError, TypeError) as error:
        sys.exit(f"{sys.argv[1]} cannot be served: {error}")
    channel = Channel(open_session_socket(where))
    Worker(channel, session_class, zygote=os.getppid(), scratch=Path(scratch)).serve()


def open_session_socket(where: str) -> socket.socket:
    """Return the socket that ``COMPILER_GYM_SESSION`` names."""
    kind, _, place = where.partition(":")
    if kind == "unix":
        connected = socket.socket(socket.AF_UNIX)
        connected.connect(place)
        return connected
    found = socket.socket(fileno=os.dup(int(place) if kind == "fd" else 0))
    if kind == "stdio":
        os.dup2(2, 1)  # what a session prints is not a message
    return found


if __name__ == "__main__":
    main()
