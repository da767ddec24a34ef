# SPDX-License-Identifier: MIT
"""A session class as a program: ``python -m compiler_gym.service.serve PACKAGE.MODULE:CLASS``.

It speaks the session protocol like a program in another language, and is the same worker that
environments start themselves.
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


def main() -> None:
    """Serve the class in the first argument; further arguments are options, ``name=value``."""
    address, scratch = os.environ.get(SESSION), os.environ.get(SCRATCH)
    if len(sys.argv) < 2 or address is None or scratch is None:
        sys.exit(
            "usage: python -m compiler_gym.service.serve PACKAGE.MODULE:CLASS [NAME=VALUE ...]\n"
            f"must be started by compiler_gym, which sets {SESSION} and {SCRATCH}: "
            "compiler-gym conformance -- python -m compiler_gym.service.serve ..."
        )
    options = {name: value for name, _, value in (item.partition("=") for item in sys.argv[2:])}
    try:
        session_class = prepare_session_class(sys.argv[1], options)
    except (CompilerGymError, ImportError, AttributeError, TypeError) as error:
        sys.exit(f"cannot serve {sys.argv[1]}: {error}")
    channel = Channel(open_session_socket(address))
    Worker(channel, session_class, zygote=os.getppid(), scratch=Path(scratch)).serve()


def open_session_socket(address: str) -> socket.socket:
    """Return the socket at the address in ``COMPILER_GYM_SESSION``."""
    kind, _, name = address.partition(":")
    if kind == "unix":
        session = socket.socket(socket.AF_UNIX)
        session.connect(name)
        return session
    session = socket.socket(fileno=os.dup(int(name) if kind == "fd" else 0))
    if kind == "stdio":
        os.dup2(2, 1)  # output of a session must not mix with its messages
    return session


if __name__ == "__main__":
    main()
