# SPDX-License-Identifier: MIT
"""Runs a command, and ends all processes that it started when it ends or its caller does.

A script for ``python -I -S``: it loads nothing from this package. Its arguments are a pipe that
closes when the caller ends for any reason, a pipe for the report, the caller's process id, and the
command. Orphans of the command's processes become children of this process.
"""

import ctypes
import os
import resource
import select
import signal
import subprocess
import sys

_PR_SET_CHILD_SUBREAPER = 36
_LOOK_EVERY = 1.0


def children() -> "list[int]":
    """Return the ids of the children of this process."""
    processes = list[int]()
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    parent = file.read().rpartition(b")")[2].split()[1]
            except (OSError, IndexError):
                continue
            if int(parent) == os.getpid():
                processes.append(int(name))
    return processes


def end_all() -> None:
    """Kill every child, including new orphans, until there are none."""
    while True:
        for process in children():
            try:
                os.kill(process, signal.SIGKILL)
            except OSError:
                continue
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def reap(process: int) -> "int | None":
    """Return the status of `process` if it has ended, and reap other processes that have."""
    while True:
        try:
            ended, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return None
        if ended == 0:
            return None
        if ended == process:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def main() -> int:
    """Run the command; return its status."""
    life, report, parent = map(int, sys.argv[1:4])
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    try:
        process = subprocess.Popen(sys.argv[4:], start_new_session=True)
    except OSError as error:
        os.write(report, f"failed {error.errno}".encode())
        return 127
    for stream in (0, 1, 2):
        os.close(stream)  # a reader waits for the command, not for this process
    status = None
    while status is None and os.getppid() == parent:
        ready, _, _ = select.select([life, woken], [], [], _LOOK_EVERY)
        if life in ready:
            break
        if woken in ready:
            os.read(woken, 4096)
        status = reap(process.pid)
    end_all()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    process.returncode = status or 0  # reaped above
    try:
        os.write(report, f"ended {used.ru_utime + used.ru_stime}".encode())
    except OSError:
        return 1
    return 1 if status is None else status


if __name__ == "__main__":
    sys.exit(main())
