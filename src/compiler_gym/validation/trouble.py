# SPDX-License-Identifier: MIT
"""Distinguish a machine in trouble from a wrong state.

A full disk, a process limit or a deadline proves nothing about the program. A compiler that
crashes or refuses by itself is not excused here. Errors cross process borders as a class and a
text, so both are checked, and so are the causes of an error.
"""

import errno
import os
import signal
import subprocess
from collections.abc import Iterator

from compiler_gym.errors import (
    CacheError,
    CompilerGymError,
    DownloadFailed,
    ServiceError,
    WorkerCrashedError,
)

__all__ = ["machine_trouble"]

_SHORTAGES = (
    errno.EAGAIN, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM,
    errno.ENOSPC, errno.EROFS,
)  # fmt: skip
_SYSTEM_MESSAGES = (*map(os.strerror, _SHORTAGES), "Cannot fork", "can't start new thread")
"""Messages of the C library, a shell and Python about shortages."""
_OUTSIDE_SIGNALS = frozenset(
    (signal.SIGHUP, signal.SIGINT, signal.SIGKILL, signal.SIGTERM, signal.SIGXCPU, signal.SIGXFSZ)
)


def machine_trouble(error: BaseException) -> str:
    """Return the trouble of the machine or its limits that caused `error`; empty if none.

    >>> machine_trouble(OSError(errno.ENOSPC, "No space left on device"))
    'OSError: [Errno 28] No space left on device'
    >>> machine_trouble(WorkerCrashedError("the worker ended", signal=signal.SIGSEGV))
    ''
    """
    for link in _causes(error):
        if _is_trouble(link):
            return f"{type(link).__name__}: {link}"
    return ""


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _is_trouble(error: BaseException) -> bool:
    if isinstance(error, WorkerCrashedError):
        return error.signal in _OUTSIDE_SIGNALS or _mentions_shortage(error)
    if isinstance(error, (ServiceError, MemoryError, subprocess.TimeoutExpired, TimeoutError)):
        return True
    if isinstance(error, (CacheError, DownloadFailed)):
        return True
    if isinstance(error, OSError) and not isinstance(error, CompilerGymError):
        return error.errno in _SHORTAGES or _mentions_shortage(error)
    return _mentions_shortage(error)


def _mentions_shortage(error: BaseException) -> bool:
    text = str(error)
    return any(message in text for message in _SYSTEM_MESSAGES)
