# SPDX-License-Identifier: MIT
"""The two FIFOs between a compiler that requests decisions and the process that answers.

A compiler opens ``BASE.in`` and ``BASE.out`` at any time, may die at any time, and may be followed
by another one: none of this blocks or breaks the side that answers.
"""

import os
import select
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from compiler_gym.errors import ServiceOSError
from compiler_gym_foreign.interactive.messages import CompilerQuestion, Header, Reader

__all__ = ["EndedConversation", "Pipes"]

_PART = 1 << 16
_SUFFIXES = (".in", ".out")


@dataclass(frozen=True, slots=True)
class EndedConversation:
    """The compiler closed its end of the pipes: it finished, or died."""

    is_within_message: bool
    """True if it stopped in the middle of a message, which means that it did not finish."""


class Pipes:
    """The FIFOs ``BASE.in``, for answers, and ``BASE.out``, for questions.

    Any number of compilers, one at a time. Not thread-safe. It is a context manager; only `close`
    removes the FIFOs.

    If the FIFOs are closed while an LLVM compiler waits for an answer, it waits forever and keeps
    a processor busy, because it takes the end of a pipe for a late answer. If you close them before
    `EndedConversation`, end the compiler too.

    Args:
        base: The path of both without their suffixes, which the compiler gets.

    Raises:
        ServiceOSError: A FIFO cannot be created there, or one exists already.
    """

    def __init__(self, base: Path) -> None:
        self.base = base
        self._paths = [base.with_name(base.name + suffix) for suffix in _SUFFIXES]
        self._open: list[int] = []
        self._made: list[Path] = []
        self.unanswered: CompilerQuestion | None = None
        """The last question received, while it has no answer and its compiler runs."""
        self._reader = Reader()
        self._ready: deque[Header | CompilerQuestion | EndedConversation] = deque()
        try:
            for path in self._paths:
                os.mkfifo(path, 0o600)
                self._made.append(path)
            # Both ends are held here, so that neither side waits for the other to open it, and an
            # answer to a compiler that has died does not raise a broken pipe.
            self._answers = self._open_pipe(self._paths[0], os.O_RDWR)
            self._questions = self._open_pipe(self._paths[1], os.O_RDONLY)
        except OSError as error:
            self.close()
            raise ServiceOSError(
                f"cannot make the pipes {base}.in and {base.name}.out: {error.strerror}"
            ) from error

    def receive(
        self, seconds: float | None = None, *, wakes: int | None = None
    ) -> Header | CompilerQuestion | EndedConversation | None:
        """Return the next message of the compiler.

        Args:
            seconds: Time to wait; None waits indefinitely.
            wakes: A descriptor that ends the waiting when it becomes readable.

        Returns:
            The message; None after a timeout, or if `wakes` ended the waiting.

        Raises:
            ServiceTransportError: The bytes do not follow this protocol.
        """
        until = None if seconds is None else time.monotonic() + seconds
        poll = select.poll()
        poll.register(self._questions, select.POLLIN)
        if wakes is not None:
            poll.register(wakes, select.POLLIN)
        late = False
        while not self._ready:
            timeout = None if until is None else 1000 * max(until - time.monotonic(), 0.0)
            events = dict(poll.poll(timeout))
            if late or self._questions not in events:
                return None
            late = timeout == 0.0  # after the deadline, available data is read only once
            before = self._questions
            self._read()
            if self._questions != before:
                poll.unregister(before)
                poll.register(self._questions, select.POLLIN)
        message = self._ready.popleft()
        self.unanswered = message if isinstance(message, CompilerQuestion) else None
        return message

    def answer(self, advice: bytes) -> None:
        """Send the bytes of an answer to the last question received."""
        self.unanswered = None
        os.write(self._answers, advice)  # never blocks: the pipe holds 64 KiB and only one answer

    def close(self) -> None:
        """Close and remove the FIFOs. Safe to call twice."""
        for descriptor in self._open:
            os.close(descriptor)
        self._open = []
        for path in self._made:
            path.unlink(missing_ok=True)
        self._made = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _open_pipe(self, path: Path, mode: int) -> int:
        descriptor = os.open(path, mode | os.O_NONBLOCK | os.O_CLOEXEC)
        self._open.append(descriptor)
        return descriptor

    def _read(self) -> None:
        data = os.read(self._questions, _PART)
        if not data:
            self._ready.append(EndedConversation(not self._reader.is_between_messages))
            self._expect_another()
            return
        for message in self._reader.feed(data):
            if isinstance(message, Header):
                self._drop_answers()
            self._ready.append(message)

    def _expect_another(self) -> None:
        """Forget the compiler that ended, without missing one that has already started.

        The new descriptor is opened before the old one is closed: without any, the first line of
        the next compiler would kill it; the old one would report the end again and again.
        """
        before = self._questions
        self._questions = self._open_pipe(self._paths[1], os.O_RDONLY)
        self._open.remove(before)
        os.close(before)
        self._reader = Reader()
        self._drop_answers()

    def _drop_answers(self) -> None:
        """Discard an answer that its compiler did not live to read."""
        try:
            while os.read(self._answers, _PART):
                pass
        except BlockingIOError:
            pass
