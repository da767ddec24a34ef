# SPDX-License-Identifier: MIT
"""LLVM in a separate process, which forks for every request.

If a pass crashes or hangs, only the fork ends, and the answer contains the reason. The engine is
loaded only once. `Engine` is the client, and `main` runs the process.
"""

import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any, Self

import msgspec

from compiler_gym.service import bind_to_parent

__all__ = ["Answer", "Engine"]

_MEMORY_BYTES = 4 << 30


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request."""

    value: Any = None
    failure: str = ""
    """The reason for a missing value: a crash, a timeout, or an error message of LLVM."""


class Engine:
    """The process that compiles, for one thread; a context manager that ends it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "compiler_gym_hunt.llvm.engine"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # only the hunt itself handles Ctrl-C
        )

    def ask(self, operation: str, *arguments: Any, seconds: float = 20.0) -> Answer:
        """Call the function `operation` of ``examining`` with `arguments`; return the answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        _send(self._process.stdin, [operation, seconds, arguments])
        value, failure = _receive(self._process.stdout) or (None, "the engine has ended")
        return Answer(value, failure)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()


def _send(stream: IO[bytes], message: Any) -> None:
    data = msgspec.msgpack.encode(message)
    stream.write(len(data).to_bytes(8, "little") + data)
    stream.flush()


def _receive(stream: IO[bytes]) -> Any:
    size = int.from_bytes(stream.read(8), "little")
    data = stream.read(size)
    return msgspec.msgpack.decode(data) if size and len(data) == size else None


def main() -> None:
    """Answer requests until the client closes the connection."""
    from compiler_gym_hunt.llvm import examining

    parent = os.getppid()
    bind_to_parent(parent)
    while (question := _receive(sys.stdin.buffer)) is not None:
        operation, seconds, arguments = question
        function = getattr(examining, operation)
        _send(sys.stdout.buffer, _in_fork(lambda: function(*arguments), seconds))  # noqa: B023


def _in_fork(function: Callable[[], Any], seconds: float) -> tuple[Any, str]:
    """Call `function` in a fork; return its result and the reason if there is none."""
    reader, writer = os.pipe()
    origin = os.getpid()
    child = os.fork()
    if not child:
        os.close(reader)
        _answer_in_fork(function, writer, origin)
    os.close(writer)
    data = None
    try:
        data = _read_until(reader, time.monotonic() + seconds)
    finally:
        os.close(reader)
        if data is None:
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    if data is None:
        return None, f"no answer within {seconds:g} s"
    if not data:
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        return None, f"LLVM crashed: {'signal' if os.WIFSIGNALED(status) else 'status'} {number}"
    return msgspec.msgpack.decode(data)


def _answer_in_fork(function: Callable[[], Any], writer: int, origin: int) -> None:
    try:
        bind_to_parent(origin)
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 2)  # suppress the stack dump of a crash
        try:
            answer = (function(), "")
        except Exception as error:  # a process boundary: every error becomes an answer
            answer = (None, f"{type(error).__name__}: {str(error).strip()[:300]}")
        with open(writer, "wb") as stream:
            stream.write(msgspec.msgpack.encode(answer))
    finally:
        os._exit(0)  # pyright: ignore[reportPrivateUsage]  # the documented way out of a fork


def _read_until(reader: int, deadline: float) -> bytes | None:
    parts: list[bytes] = []
    while (remaining := deadline - time.monotonic()) > 0:
        if select.select([reader], [], [], remaining)[0]:
            part = os.read(reader, 1 << 16)
            if not part:
                return b"".join(parts)
            parts.append(part)
    return None


if __name__ == "__main__":
    main()
