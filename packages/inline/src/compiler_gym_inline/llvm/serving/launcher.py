# SPDX-License-Identifier: MIT
"""Replace a compiler on PATH: request pipes from the policy's server, then run the compiler.

    python -IS launcher.py SOCKET driver|opt COMPILER [ARGUMENTS...]

The launcher remains the parent of the compiler. If the server ends for any reason, it kills the
compiler, which would otherwise wait forever. It imports nothing from the library, because it must
start quickly.
"""

import os
import select
import signal
import socket
import sys

__all__ = ["main"]

_SECONDS_TO_END = 2.0
_OWN_CALL = "-cc1"
"""The first argument when clang calls itself, with flags that already name the pipes."""


def main(words: list[str]) -> int:
    """Run the compiler and return its exit status as a shell would; 1 if it was killed here."""
    address, kind, real, *arguments = words
    if arguments and arguments[0].startswith(_OWN_CALL):
        os.execv(real, [real, *arguments])
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        return _run_with(client, kind, address, [real, *arguments])


def _run_with(client: socket.socket, kind: str, address: str, command: list[str]) -> int:
    real, *arguments = command
    name = os.path.basename(real)
    try:
        client.connect(address)
        client.sendall(f"{kind}\n".encode())
    except OSError as error:
        return _report_failure(name, f"cannot reach the policy at {address}: {error.strerror}")
    flags = _read_line(client)
    if not flags:
        return _report_failure(name, "the policy's server ended")
    child = os.posix_spawn(real, [real, *flags.split("\0"), *arguments], os.environ)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: os.kill(child, number))
    ends = os.pidfd_open(child)
    poll = select.poll()
    for descriptor in (ends, client.fileno()):
        poll.register(descriptor, select.POLLIN)
    events = dict(poll.poll())
    if ends in events:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) % 256
    reason = _read_line(client) or "the policy's server ended"
    _end_compiler(child, ends)
    return _report_failure(name, reason)


def _end_compiler(child: int, ends: int) -> None:
    os.kill(child, signal.SIGTERM)
    if not select.select([ends], [], [], _SECONDS_TO_END)[0]:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def _read_line(client: socket.socket) -> str:
    data = b""
    while not data.endswith(b"\n"):
        part = client.recv(1 << 16)
        if not part:
            return ""
        data += part
    return data[:-1].decode(errors="surrogateescape")


def _report_failure(name: str, reason: str) -> int:
    sys.stderr.write(f"{name}: error: {reason}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
