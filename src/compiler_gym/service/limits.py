# SPDX-License-Identifier: MIT
"""Limits of a worker, and the ties of its process to its owner.

The client enforces deadlines, by ending a worker that exceeds one; the kernel enforces memory
limits. Children of a worker are bound to it here, so that no process outlives the program
that started it.
"""

import ctypes
import os
import resource
import signal
import struct
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from compiler_gym.errors import ServiceOSError
from compiler_gym.service.stopwatch import note_child

OUT_OF_MEMORY_STATUS = 86
"""The exit status of a worker whose allocation failed."""

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_THRESHOLD = -1, -2, -3
_KEPT_BYTES = 32 << 20
_SCHED_SETATTR = {"x86_64": 314, "aarch64": 274}
"""The number of the system call; this C library has no function for it."""
_SCHED_ATTR = struct.Struct("=IIQiIQQQ")
"""Size, policy, flags, nice value, priority, runtime, deadline, period (``sched.h``)."""
_SLICE_NS = 20_000_000
_CPUCLOCK_SCHED = 2
_libc = ctypes.CDLL(None, use_errno=True)


def bind_to_parent(expected_parent: int) -> None:
    """Make the kernel end this process (SIGKILL) when its parent ends.

    Raises `ServiceOSError` if the parent has already ended.
    """
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != expected_parent:
        raise ServiceOSError(f"the parent process {expected_parent} has ended")


def wake_with_parent() -> None:
    """Make the kernel continue this process (SIGCONT) when its parent ends.

    A stopped process would otherwise not notice that and stay forever. The signal also comes
    when the thread that started this process ends, which is harmless for a running process.
    """
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGCONT, 0, 0, 0)


def adopt_orphans(*, on: bool = True) -> None:
    """Make this process the parent of descendants whose parent has ended; undo it unless `on`."""
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, int(on), 0, 0, 0)


def end_within(seconds: int) -> None:
    """Make the kernel end this process if it still runs after `seconds`."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(seconds)


def keep_freed_memory() -> None:
    """Let this process and its forks reuse up to 32 MiB of the memory that they free.

    A compiler frees much of its memory after every pass. If the C library returns it to the
    kernel at once, the next pass takes a page fault for every page.
    """
    try:
        set_option = _libc.mallopt
    except AttributeError:  # not glibc
        return
    set_option(_M_TRIM_THRESHOLD, _KEPT_BYTES)
    set_option(_M_MMAP_THRESHOLD, _KEPT_BYTES)
    set_option(_M_TOP_PAD, 1 << 20)


def give_back_memory() -> None:
    """Return freed memory to the kernel, in a process that will not use it again."""
    try:
        trim = _libc.malloc_trim
    except AttributeError:  # not glibc
        return
    trim(0)


def read_processor_seconds(pid: int) -> float:
    """Return the processor time of process `pid`, without its children; 0 if it has ended."""
    try:
        return time.clock_gettime(~pid << 3 | _CPUCLOCK_SCHED)
    except OSError:
        return 0.0


def read_address_space(pid: int) -> tuple[int, int]:
    """Return the reserved and the resident bytes of process `pid`; 0 if it has ended."""
    try:
        reserved, held = Path(f"/proc/{pid}/statm").read_text().split()[:2]
    except (OSError, ValueError):
        return 0, 0
    return int(reserved) * resource.getpagesize(), int(held) * resource.getpagesize()


def limit_memory(memory_bytes: int) -> None:
    """Bound the address space of this process and its children; 0 does nothing.

    Raises `MemoryError` if it uses more already: every request would fail in a different way.
    """
    if memory_bytes <= 0:
        return
    if read_address_space(os.getpid())[0] > memory_bytes:
        raise MemoryError
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        memory_bytes = min(memory_bytes, hard)
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, hard))


def work_in_batches() -> None:
    """Make the kernel treat this process as a batch job: waking it does not preempt its owner.

    An owner that sends to many workers finishes sending before the first worker on its core
    starts. Each worker then computes for up to 20 ms before the next one, so that most passes
    find their data in the caches. Other processes are not kept waiting (``sched_attr`` in
    Linux 6.12; older kernels ignore the time). Children of this process, compilers and
    programs, inherit it.
    """
    number = _SCHED_SETATTR.get(os.uname().machine)
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    attributes = _SCHED_ATTR.pack(_SCHED_ATTR.size, os.SCHED_BATCH, 0, nice, 0, _SLICE_NS, 0, 0)
    if number is not None and _libc.syscall(number, 0, attributes, 0) == 0:
        return
    try:
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    except OSError:  # forbidden by a sandbox: only slower
        pass


def run_child(
    command: Sequence[str],
    *,
    timeout: float,
    input: bytes | None = None,
    cwd: str | os.PathLike[str] | None = None,
    setup: Callable[[], None] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run `command` from a worker and return its exit status and output.

    The child is in the worker's process group and ends with the worker. Raises
    `subprocess.TimeoutExpired` after `timeout` seconds, after ending the child and its
    descendants, and `OSError` if the command cannot be started. `setup` runs in the child
    before the command.
    """
    worker, began = os.getpid(), time.monotonic_ns()

    def prepare() -> None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != worker:
            os._exit(1)
        if setup is not None:
            setup()

    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL if input is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
        preexec_fn=prepare,
    ) as child:
        try:
            output, errors = child.communicate(input, timeout)
        except BaseException:
            if child.returncode is None:
                _end_tree(child.pid)
            raise
        finally:
            note_child(command, began)
    return subprocess.CompletedProcess(command, child.returncode, output, errors)


def list_children(pid: int) -> list[int]:
    """Return the process ids of the children of process `pid`."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []


def find_parent(pid: int) -> int:
    """Return the parent of process `pid`; 0 if it has ended."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _end_tree(pid: int) -> None:
    """Kill `pid`, which must not have been waited for, and its descendants, such as helpers."""
    os.kill(pid, signal.SIGSTOP)  # it must not start more processes meanwhile
    for child in list_children(pid):
        try:
            _end_tree(child)
        except ProcessLookupError:
            pass
    os.kill(pid, signal.SIGKILL)
