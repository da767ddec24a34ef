# SPDX-License-Identifier: MIT
"""Forks this process so that the copy is a child of its parent.

Such a copy does not depend on its origin: the parent, which outlives both, reaps it. The kernel
can do this in one step, but only in a single-threaded process, because the C library does not
take part; otherwise it takes two forks, the first of which ends at once so that the second is
adopted.
"""

import ctypes
import os
import platform
import signal
import struct
import time

_CLONE_PARENT = 0x8000
_CLONE_NUMBERS = {"x86_64": 56, "aarch64": 220, "riscv64": 220}
"""The number of the system call; all other arguments are zero, so their order does not matter."""
_PR_SET_PDEATHSIG = 1

_libc = ctypes.PyDLL(None, use_errno=True)  # keeps the interpreter's lock, as a fork must
_libc.syscall.restype = ctypes.c_long
_PID = struct.Struct("<q")
_PAUSE = 0.0002


def fork_sibling(parent: int, ready: int) -> int:
    """Return the process id of the copy, or 0 in the copy.

    `parent` must be this process's parent and adopt orphans among its descendants. The copy
    leads a new session and ends with `parent`; once both are set up it writes a byte to the
    descriptor `ready`. Raises `OSError` if the kernel refuses. A copy whose parent has ended
    meanwhile ends too.
    """
    number = _CLONE_NUMBERS.get(platform.machine())
    if number is None or len(os.listdir("/proc/self/task")) > 1:
        return _fork_twice(parent, ready)
    return _clone(number, parent, ready)


def _clone(number: int, parent: int, ready: int) -> int:
    python = ctypes.pythonapi
    python.PyOS_BeforeFork()
    child = _libc.syscall(number, _CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0)
    if child == 0:
        _stand_alone(parent, ready)  # first, because our origin waits for it
        python.PyOS_AfterFork_Child()
        return 0
    error = ctypes.get_errno()
    python.PyOS_AfterFork_Parent()
    if child < 0:
        raise OSError(error, os.strerror(error))
    return child


def _fork_twice(parent: int, ready: int) -> int:
    reader, writer = os.pipe()
    try:
        middle = os.fork()
        if middle == 0:
            first = os.getpid()
            child = _fork_or_leave(writer)
            if child == 0:
                os.close(reader)
                os.close(writer)
                reader = writer = -1
                while os.getppid() == first:  # it is about to end, and then we are adopted
                    time.sleep(_PAUSE)
                _stand_alone(parent, ready)
                return 0
            os.write(writer, _PID.pack(child))
            os._exit(0)
        os.waitpid(middle, 0)
        (child,) = _PID.unpack(os.read(reader, _PID.size))
    finally:
        for descriptor in (reader, writer):
            if descriptor >= 0:
                os.close(descriptor)
    if child < 0:
        raise OSError(-child, os.strerror(-child))
    return child


def _fork_or_leave(writer: int) -> int:
    try:
        return os.fork()
    except OSError as error:
        os.write(writer, _PID.pack(-(error.errno or 1)))
        os._exit(0)


def _stand_alone(parent: int, ready: int) -> None:
    _libc.setsid()
    # Only once it is the parent's child: the end of another parent would kill it.
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)
    os.write(ready, b"\x01")
