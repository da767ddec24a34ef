# SPDX-License-Identifier: MIT
"""Locks between processes and threads that end with their process, even if it is killed.

They are kernel locks (``flock``), so a kill releases them. A lock is a file with the name of its
holder, and exists only while it is held. A forked process does not hold its parent's locks.
"""

import fcntl
import os
import socket
import time
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Self

from compiler_gym.errors import CacheError

_TRIES, _WAIT_SECONDS = 20, 0.05
"""A process that has just taken a lock writes its name a moment later."""


class Lock:
    """A lock that is held until `release`, the end of a block, or the end of the process."""

    def __init__(self, path: Path, *, wait: bool = True) -> None:
        """Create and lock the file `path`; with `wait`, wait until it is free.

        Raises `BlockingIOError`, whose ``strerror`` names the holder, if it is locked, and
        `OSError` if the file cannot be created.
        """
        self.owner = os.getpid()
        """The id of the process that holds it."""
        self._descriptor = _take(path, wait)
        _held.add(self)
        self._release = weakref.finalize(self, _release, path, self._descriptor, self.owner)
        with suppress(OSError):  # on a full disk, others are refused without the holder's name
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, f"{self.owner} {socket.gethostname()}\n".encode(), 0)

    @property
    def is_held(self) -> bool:
        """True if this process may write: it took the lock and has not released it."""
        return self._release.alive and self.owner == os.getpid()

    def release(self) -> None:
        """Release the lock. Safe to call twice."""
        self._release()

    def forget(self) -> None:
        """Close the inherited descriptor in a forked process, so that it does not keep the lock."""
        if self._release.detach() is not None:
            os.close(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.release()


class FolderLock(Lock):
    """One writer for a folder: the lock is the file ``lock`` in it."""

    @classmethod
    def take(cls, folder: Path) -> Self:
        """Lock `folder`; raise `CacheError` with the name of the process that holds it.

        Raises `OSError` if the folder cannot be written.
        """
        try:
            return cls(folder / "lock", wait=False)
        except BlockingIOError as holder:
            raise CacheError(
                f"{folder} is in use by {holder.strerror}: wait until that ends, or choose "
                "another folder"
            ) from None


def lock_path(path: Path, *, wait: bool = True) -> Lock:
    """Take and return the lock of `path`: the file ``.NAME.lock`` in its folder, see `Lock`."""
    return Lock(path.parent / f".{path.name}.lock", wait=wait)


def _take(path: Path, wait: bool) -> int:
    """Return the descriptor of the file `path`, opened and locked."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            if _is_at(path, descriptor):  # otherwise the holder has removed it meanwhile
                return descriptor
        except BlockingIOError as error:
            os.close(descriptor)
            raise BlockingIOError(error.errno, _holder(path), str(path)) from None
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _holder(path: Path) -> str:
    for _ in range(_TRIES):
        with suppress(OSError):
            holder = path.read_text(errors="replace").split()
            if len(holder) == 2 and (
                holder[1] != socket.gethostname() or Path("/proc", holder[0]).exists()
            ):
                suffix = " (this one)" if holder[0] == str(os.getpid()) else ""
                return f"process {holder[0]}{suffix} on {holder[1]}"
        time.sleep(_WAIT_SECONDS)
    return "another process"


def _is_at(path: Path, descriptor: int) -> bool:
    with suppress(OSError):
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    return False


def _release(path: Path, descriptor: int, owner: int) -> None:
    if owner == os.getpid():
        with suppress(OSError):
            if _is_at(path, descriptor):
                path.unlink()
        # Closing is not enough while a process that was just forked still has it open.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)


_held: "weakref.WeakSet[Lock]" = weakref.WeakSet()


def _after_fork_in_child() -> None:
    for lock in list(_held):
        lock.forget()


os.register_at_fork(after_in_child=_after_fork_in_child)
