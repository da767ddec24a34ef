# SPDX-License-Identifier: MIT
"""Run a command of a build so that a Ctrl-C is not for it, and nothing of it outlives us.

However long it prints, a little is kept: the beginning and the end.
"""

import os
import selectors
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

__all__ = ["EndedCommand", "Printed", "build_variables", "in_own_session", "run_in_own_session"]

_PATIENCE = 20.0
_CHUNK = 1 << 16
_POLL_EVERY = 0.2
_DATE, _DEFAULT_DATE = "SOURCE_DATE_EPOCH", "315532800"
"""What ``__DATE__`` and ``__TIME__`` are for compilers: 1980, the first year that archives know."""


def build_variables(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the `environment` of a build: the date in it is the same at any time.

    It is the user's own where SOURCE_DATE_EPOCH says one.
    """
    return {_DATE: _DEFAULT_DATE, **environment}


@dataclass(slots=True)
class Printed:
    """What a command prints: all of a little, the beginning and the end of much.

    >>> printed = Printed(most=4)
    >>> for part in (b"abcdef", b"ghijkl"):
    ...     printed.add(part)
    >>> printed.text()
    'abcd\\n[4 bytes left out]\\nijkl'
    """

    most: int = 1 << 20
    """Bytes that are kept of the beginning, and as many of the end."""
    count: int = 0
    """Bytes in all."""
    _head: bytearray = field(default_factory=bytearray)
    _tail: bytearray = field(default_factory=bytearray)

    def add(self, part: bytes) -> None:
        """Take what was printed next."""
        self.count += len(part)
        room = self.most - len(self._head)
        self._head += part[:room]
        self._tail += part[room:]
        if len(self._tail) > 2 * self.most:
            del self._tail[: -self.most]

    def last_lines(self, count: int = 10) -> str:
        """Return the last lines, without blank ones at the end: a failure says there what it is."""
        return "\n".join(self.text().rstrip().splitlines()[-count:])

    def text(self) -> str:
        """Return what is kept."""
        tail = self._tail[-self.most :]
        left_out = self.count - len(self._head) - len(tail)
        middle = f"\n[{left_out:,} bytes left out]\n".encode() if left_out else b""
        return (self._head + middle + tail).decode(errors="replace")


@dataclass(frozen=True, slots=True)
class EndedCommand:
    """How a command ended."""

    status: int
    """128 and the number of the signal where one ended it."""
    cpu_seconds: float
    """Processor time, of the command and all that it started."""


class _Kept(subprocess.Popen[Any]):
    """A command that ends with us, and all that it started with it."""

    def __init__(self, words: Sequence[str], **options: Any) -> None:
        life, self._life = os.pipe()
        self._said, report = os.pipe()
        keeper = str(Path(__file__).with_name("keeper.py"))
        ours = [sys.executable, "-I", "-S", keeper, str(life), str(report), str(os.getpid())]
        try:
            super().__init__(
                [*ours, *words],
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                pass_fds=(life, report),
                **options,
            )
        except BaseException:
            os.close(self._life)
            os.close(self._said)
            raise
        finally:
            os.close(life)
            os.close(report)

    def let_go(self) -> EndedCommand:
        """End what is still there; raise `OSError` where the command could not be started."""
        os.close(self._life)
        try:
            with suppress(subprocess.TimeoutExpired):
                self.wait(_PATIENCE)
            self.kill()
            self.wait()
            kind, _, said = os.read(self._said, _CHUNK).decode().partition(" ")
        finally:
            os.close(self._said)
        if kind == "failed":
            raise OSError(int(said), os.strerror(int(said)))
        return EndedCommand(self.returncode, float(said) if kind == "ended" else 0.0)


@contextmanager
def in_own_session(words: Sequence[str], **options: Any) -> Generator[subprocess.Popen[Any]]:
    """Start `words` without input, in a session of its own; `options` are those of `Popen`.

    When the block ends, however it does, or this process, so do the command and all that it
    started. Raises `OSError` then where the command could not be started.
    """
    with _Kept(words, **options) as command:
        try:
            yield command
        except BaseException:
            with suppress(OSError):
                command.let_go()
            raise
        command.let_go()


def run_in_own_session(
    words: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    takes: Callable[[bytes], None],
    takes_errors: Callable[[bytes], None] | None = None,
    seconds: float | None = None,
    poll: Callable[[], None] = lambda: None,
) -> EndedCommand:
    """Run `words` to the end of the command, and hand over what it prints as it comes.

    Without `takes_errors` both streams are one. `poll` is called now and then, and may raise.
    Raises `subprocess.TimeoutExpired` after `seconds`, and `OSError` where it cannot be started.
    """
    errors = subprocess.STDOUT if takes_errors is None else subprocess.PIPE
    with _Kept(
        words, cwd=cwd, env=dict(environment), stdout=subprocess.PIPE, stderr=errors
    ) as command:
        try:
            _read(command, takes, takes_errors, seconds, poll)
        except BaseException:
            with suppress(OSError):
                command.let_go()
            raise
        return command.let_go()


def _read(
    command: _Kept,
    takes: Callable[[bytes], None],
    takes_errors: Callable[[bytes], None] | None,
    seconds: float | None,
    poll: Callable[[], None],
) -> None:
    end = None if seconds is None else time.monotonic() + seconds
    with selectors.DefaultSelector() as streams:
        for stream, take in ((command.stdout, takes), (command.stderr, takes_errors)):
            if stream is not None and take is not None:
                streams.register(stream, selectors.EVENT_READ, take)
        while streams.get_map() or command.poll() is None:
            if end is not None and time.monotonic() > end:
                raise subprocess.TimeoutExpired(command.args, seconds or 0.0)
            poll()
            if not streams.get_map():
                with suppress(subprocess.TimeoutExpired):
                    command.wait(_POLL_EVERY)
                continue
            for key, _ in streams.select(_POLL_EVERY):
                _take_from(streams, key)


def _take_from(streams: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
    stream: IO[bytes] = key.fileobj  # pyright: ignore[reportAssignmentType]  # what we registered
    part = os.read(stream.fileno(), _CHUNK)
    if part:
        key.data(part)
    else:
        streams.unregister(stream)
