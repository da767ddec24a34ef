# SPDX-License-Identifier: MIT
"""Stands for a compiler on PATH: asks the policy's server for a pair of pipes, and runs it.

    python -IS launcher.py SOCKET driver|opt COMPILER [ARGUMENTS...]

It is its parent and stays: when the server ends, however that was, it ends the compiler, which
would otherwise wait for ever. It imports nothing of the library, because each compilation waits
for it.
"""

import os
import select
import signal
import socket
import sys

__all__ = ["main"]

_SECONDS_TO_END = 2.0
_OWN_CALL = "-cc1"
"""How clang calls itself: with other words, and it asks by those of the call before."""


def main(words: list[str]) -> int:
    """Run the compiler and return its exit status, as a shell shows it; 1 if it was ended here."""
    address, kind, real, *arguments = words
    if arguments and arguments[0].startswith(_OWN_CALL):
        os.execv(real, [real, *arguments])
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        return _run_with(client, kind, address, [real, *arguments])


def _run_with(client: socket.socket, kind: str, address: str, words: list[str]) -> int:
    real, *arguments = words
    name = os.path.basename(real)
    try:
        client.connect(address)
        client.sendall(f"{kind}\n".encode())
    except OSError as error:
        return _report_failure(name, f"no policy answers at {address}: {error.strerror}")
    said = _line_from(client)
    if not said:
        return _report_failure(name, "the policy's server ended")
    child = os.posix_spawn(real, [real, *said.split("\0"), *arguments], os.environ)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: os.kill(child, number))
    ends = os.pidfd_open(child)
    poll = select.poll()
    for descriptor in (ends, client.fileno()):
        poll.register(descriptor, select.POLLIN)
    events = dict(poll.poll())
    if ends in events:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) % 256
    why = _line_from(client) or "the policy's server ended"
    _end_compiler(child, ends)
    return _report_failure(name, why)


def _end_compiler(child: int, ends: int) -> None:
    os.kill(child, signal.SIGTERM)
    if not select.select([ends], [], [], _SECONDS_TO_END)[0]:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def _line_from(client: socket.socket) -> str:
    said = b""
    while not said.endswith(b"\n"):
        part = client.recv(1 << 16)
        if not part:
            return ""
        said += part
    return said[:-1].decode(errors="surrogateescape")


def _report_failure(name: str, why: str) -> int:
    sys.stderr.write(f"{name}: error: {why}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
