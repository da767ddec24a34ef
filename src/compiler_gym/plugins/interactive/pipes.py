# SPDX-License-Identifier: MIT
"""The two FIFOs between a compiler that asks and whoever answers: made, waited at, removed.

A compiler opens ``BASE.in`` and ``BASE.out`` whenever it comes to it, dies when it likes, and
may be followed by another one: none of this blocks or breaks the side that answers.
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
from compiler_gym.plugins.interactive.messages import CompilerQuestion, Header, Reader

__all__ = ["EndedConversation", "Pipes"]

_PART = 1 << 16
_SUFFIXES = (".in", ".out")


@dataclass(frozen=True, slots=True)
class EndedConversation:
    """The compiler closed its end of the pipes: it finished, or died."""

    is_within_message: bool
    """True if it stopped in the middle of a message, which one that finished does not."""


class Pipes:
    """The FIFOs ``BASE.in``, for answers, and ``BASE.out``, for questions.

    One compiler at a time, any number of them one after the other. Not for several threads. It is
    a context manager; `close` removes the FIFOs, and nothing else does.

    A compiler of LLVM that waits for an answer when the FIFOs are closed waits for ever, with a
    processor to itself: it takes the end of a pipe for an answer that is still to come. So who
    closes them before `EndedConversation` ends the compiler, too.

    Args:
        base: The path of both without their endings. What the compiler is told.

    Raises:
        ServiceOSError: A FIFO cannot be made there, or one is there already.
    """

    def __init__(self, base: Path) -> None:
        self.base = base
        self._paths = [base.with_name(base.name + suffix) for suffix in _SUFFIXES]
        self._open: list[int] = []
        self._made: list[Path] = []
        self.unanswered: CompilerQuestion | None = None
        """The question that was received last, while it has no answer and its compiler lives."""
        self._reader = Reader()
        self._ready: deque[Header | CompilerQuestion | EndedConversation] = deque()
        try:
            for path in self._paths:
                os.mkfifo(path, 0o600)
                self._made.append(path)
            # Both ends are held here, so that neither side waits for the other to open it, and
            # an answer to a compiler that has died is no broken pipe.
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
        """Return what the compiler sends next.

        Args:
            seconds: How long to wait; None waits without end.
            wakes: A descriptor that ends the waiting when something can be read from it.

        Returns:
            None where nothing came in time, or something woke it.

        Raises:
            ServiceTransportError: What came is not of this protocol.
        """
        until = None if seconds is None else time.monotonic() + seconds
        poll = select.poll()
        poll.register(self._questions, select.POLLIN)
        if wakes is not None:
            poll.register(wakes, select.POLLIN)
        late = False
        while not self._ready:
            left = None if until is None else 1000 * max(until - time.monotonic(), 0.0)
            events = dict(poll.poll(left))
            if late or self._questions not in events:
                return None
            late = left == 0.0  # what is there is read once, however much keeps coming
            before = self._questions
            self._read()
            if self._questions != before:
                poll.unregister(before)
                poll.register(self._questions, select.POLLIN)
        message = self._ready.popleft()
        self.unanswered = message if isinstance(message, CompilerQuestion) else None
        return message

    def answer(self, advice: bytes) -> None:
        """Send the bytes of an answer to the question that was received last."""
        self.unanswered = None
        os.write(self._answers, advice)  # it has room for 64 KiB, and one answer is all that waits

    def close(self) -> None:
        """Close and remove the FIFOs; a second time does nothing."""
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
        """Forget the compiler that ended, without missing one that is there already.

        The new descriptor is opened first: with none the next compiler would be killed by its
        first line, and this one would report the end again and again.
        """
        before = self._questions
        self._questions = self._open_pipe(self._paths[1], os.O_RDONLY)
        self._open.remove(before)
        os.close(before)
        self._reader = Reader()
        self._drop_answers()

    def _drop_answers(self) -> None:
        """Take out an answer that its compiler did not live to read."""
        try:
            while os.read(self._answers, _PART):
                pass
        except BlockingIOError:
            pass
