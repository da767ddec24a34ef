# SPDX-License-Identifier: MIT
"""Run a command of a build that Ctrl-C does not reach, and whose processes end with this one.

Of its output, the beginning and the end are kept.
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

_PATIENCE = 20.0
_CHUNK = 1 << 16
_POLL_EVERY = 0.2
_DATE, _DEFAULT_DATE = "SOURCE_DATE_EPOCH", "315532800"
"""The date of ``__DATE__`` and ``__TIME__`` in compilers: 1980, the first year in archives."""


def build_variables(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the `environment` of a build, with a fixed date.

    The user's SOURCE_DATE_EPOCH takes precedence.
    """
    return {_DATE: _DEFAULT_DATE, **environment}


@dataclass(slots=True)
class Printed:
    """The output of a command: all of it if it is short, otherwise its beginning and its end.

    >>> printed = Printed(most=4)
    >>> for part in (b"abcdef", b"ghijkl"):
    ...     printed.add(part)
    >>> printed.text()
    'abcd\\n[4 bytes left out]\\nijkl'
    """

    most: int = 1 << 20
    """Bytes to keep of the beginning, and as many of the end."""
    count: int = 0
    """Total number of bytes."""
    _head: bytearray = field(default_factory=bytearray)
    _tail: bytearray = field(default_factory=bytearray)

    def add(self, part: bytes) -> None:
        """Add the next part of the output."""
        self.count += len(part)
        room = self.most - len(self._head)
        self._head += part[:room]
        self._tail += part[room:]
        if len(self._tail) > 2 * self.most:
            del self._tail[: -self.most]

    def last_lines(self, count: int = 10) -> str:
        """Return the last lines without trailing blank ones: they usually explain a failure."""
        return "\n".join(self.text().rstrip().splitlines()[-count:])

    def text(self) -> str:
        """Return the stored output."""
        tail = self._tail[-self.most :]
        left_out = self.count - len(self._head) - len(tail)
        middle = f"\n[{left_out:,} bytes left out]\n".encode() if left_out else b""
        return (self._head + middle + tail).decode(errors="replace")


@dataclass(frozen=True, slots=True)
class EndedCommand:
    """The end of a command."""

    status: int
    """The exit status, or 128 plus the number of the signal that ended it."""
    cpu_seconds: float
    """Processor time of the command and all of its processes."""


class _Kept(subprocess.Popen[Any]):
    """A command that ends with this process, together with all processes that it started."""

    def __init__(self, words: Sequence[str], **options: Any) -> None:
        life, self._life = os.pipe()
        self._said, report = os.pipe()
        keeper = str(Path(__file__).with_name("keeper.py"))
        launcher = [sys.executable, "-I", "-S", keeper, str(life), str(report), str(os.getpid())]
        try:
            super().__init__(
                [*launcher, *words],
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
        """End the remaining processes; raise `OSError` if the command could not be started."""
        os.close(self._life)
        try:
            with suppress(subprocess.TimeoutExpired):
                self.wait(_PATIENCE)
            self.kill()
            self.wait()
            kind, _, detail = os.read(self._said, _CHUNK).decode().partition(" ")
        finally:
            os.close(self._said)
        if kind == "failed":
            raise OSError(int(detail), os.strerror(int(detail)))
        return EndedCommand(self.returncode, float(detail) if kind == "ended" else 0.0)


@contextmanager
def in_own_session(words: Sequence[str], **options: Any) -> Generator[subprocess.Popen[Any]]:
    """Start the command `words` without input, in a new session; `options` are those of `Popen`.

    At the end of the block or of this process, the command and all of its processes are ended.
    Raises `OSError` at the end of the block if the command could not be started.
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
    """Run the command `words` to its end, and pass on its output as it comes.

    Without `takes_errors` both streams are joined. `poll` is called regularly, and may raise.
    Raises `subprocess.TimeoutExpired` after `seconds`, and `OSError` if it cannot be started.
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
    stream: IO[bytes] = key.fileobj  # pyright: ignore[reportAssignmentType]  # as registered
    part = os.read(stream.fileno(), _CHUNK)
    if part:
        key.data(part)
    else:
        streams.unregister(stream)
