# SPDX-License-Identifier: MIT
"""Tell a machine that is in trouble from a state that is wrong.

A full disk, a limit of processes or a deadline says nothing of the program. What a
compiler does by itself, a crash or a refusal, is not excused here. Errors cross borders
of processes as a class and a text, so that both count, and so does what caused them.
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
"""The messages of the C library, a shell and Python about shortages."""
_ENDED_FROM_OUTSIDE = frozenset(
    (signal.SIGHUP, signal.SIGINT, signal.SIGKILL, signal.SIGTERM, signal.SIGXCPU, signal.SIGXFSZ)
)


def machine_trouble(error: BaseException) -> str:
    """Return what of the machine or its limits `error` comes from; empty if of neither.

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
        return error.signal in _ENDED_FROM_OUTSIDE or _says_so(error)
    if isinstance(error, (ServiceError, MemoryError, subprocess.TimeoutExpired, TimeoutError)):
        return True
    if isinstance(error, (CacheError, DownloadFailed)):
        return True
    if isinstance(error, OSError) and not isinstance(error, CompilerGymError):
        return error.errno in _SHORTAGES or _says_so(error)
    return _says_so(error)


def _says_so(error: BaseException) -> bool:
    text = str(error)
    return any(word in text for word in _SYSTEM_MESSAGES)
