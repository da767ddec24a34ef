# SPDX-License-Identifier: MIT
"""Ends quietly when the reader of our output has ended, as in ``compiler-gym envs | head -1``."""

import os
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import NoReturn

__all__ = ["READER_LEFT", "leaving_with_the_reader", "reader_left"]

READER_LEFT = 128 + signal.SIGPIPE
"""The exit status in that case: a shell shows the same for a tool that SIGPIPE ended.

The signal itself stays ignored, because it would also end us when a worker dies.
"""


@contextmanager
def leaving_with_the_reader() -> Generator[None]:
    """Exit with that status if something inside cannot be written any more."""
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        _write_to_nobody()
        raise SystemExit(READER_LEFT) from None


def reader_left() -> NoReturn:
    """Raise the error of a write to a closed pipe, instead of a library's own exit."""
    raise BrokenPipeError


def _write_to_nobody() -> None:
    """Discard output that is still buffered, or Python complains at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
