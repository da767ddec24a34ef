# SPDX-License-Identifier: MIT
"""Locks between processes and threads, which end with their process however that ends.

The kernel's own (``flock``), so a kill leaves none behind. A lock is a file that names its
holder and is there only while it is held. A forked process holds none of its parent's locks.
"""

import fcntl
import os
import socket
import stat
import time
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Self

from compiler_gym.errors import CacheError

__all__ = ["FolderLock", "Lock", "flocked", "locked", "unlocked"]

_POLL_SECONDS = 0.05
_NAME_SECONDS = 1.0
"""Who has just taken a lock writes its name a moment later."""


class Lock:
    """A lock that is held until `release`, the end of a block, or the end of the process."""

    def __init__(self, path: Path, *, wait: float | None = None) -> None:
        """Make and lock the file `path`; wait `wait` seconds for another holder, None for ever.

        Raises `BlockingIOError`, of which ``strerror`` names the holder, after that time, and
        `OSError` where the file cannot be made.
        """
        self.owner = os.getpid()
        """The process that holds it."""
        self._descriptor = _taken(path, wait)
        _held.add(self)
        self._release = weakref.finalize(self, _release, path, self._descriptor, self.owner)
        with suppress(OSError):  # a full disk: others are refused, without a name
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, f"{self.owner} {socket.gethostname()}\n".encode(), 0)

    @property
    def is_held(self) -> bool:
        """Whether this process may write: it took the lock and has not released it."""
        return self._release.alive and self.owner == os.getpid()

    def release(self) -> None:
        """Let others write. Calling it twice is fine."""
        self._release()

    def forget(self) -> None:
        """Close what a forked process inherited: it would hold the lock for its parent."""
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
        """Lock `folder`; raise `CacheError` that names the process which holds it.

        Raises `OSError` where the folder cannot be written.
        """
        try:
            return cls(folder / "lock", wait=0)
        except BlockingIOError as held:
            raise CacheError(
                f"{folder} is written by {held.strerror}: wait until that has ended, or name "
                "another folder"
            ) from None


def locked(path: Path, *, wait: float | None = None) -> Lock:
    """Return the lock of `path`, taken: it is the file ``.NAME.lock`` beside it, see `Lock`."""
    return Lock(path.parent / f".{path.name}.lock", wait=wait)


def flocked(descriptor: int, *, wait: bool) -> None:
    """Lock an open file until it is closed everywhere, if it is of a kind that has locks.

    Raises `BlockingIOError` where another holds it and `wait` is false.
    """
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        raise
    except OSError:
        pass  # a file system without locks


def unlocked(descriptor: int) -> None:
    """Close an open file and release its lock, also where a forked process holds it open."""
    with suppress(OSError):  # no file that has locks
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)


def _taken(path: Path, wait: float | None) -> int:
    """Return `path`, open and locked."""
    deadline = None if wait is None else time.monotonic() + wait
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            _wait_for(descriptor, path, deadline)
            if _is_at(path, descriptor):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # who held it has removed it meanwhile


def _wait_for(descriptor: int, path: Path, deadline: float | None) -> None:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if deadline is None else fcntl.LOCK_NB))
            return
        except BlockingIOError as error:
            if deadline is not None and time.monotonic() >= deadline:
                raise BlockingIOError(error.errno, _holder(path), str(path)) from None
            time.sleep(_POLL_SECONDS)


def _holder(path: Path) -> str:
    deadline = time.monotonic() + _NAME_SECONDS
    while path.exists() and time.monotonic() < deadline:
        words = path.read_text(errors="replace").split()
        if len(words) == 2 and (
            words[1] != socket.gethostname() or Path("/proc", words[0]).exists()
        ):
            ours = " (this one)" if words[0] == str(os.getpid()) else ""
            return f"process {words[0]}{ours} on {words[1]}"
        time.sleep(_POLL_SECONDS)
    return "another process"


def _is_at(path: Path, descriptor: int) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    return False


def _release(path: Path, descriptor: int, owner: int) -> None:
    if owner == os.getpid():
        with suppress(OSError):
            if _is_at(path, descriptor):
                path.unlink()
        unlocked(descriptor)
    else:
        os.close(descriptor)


_held: "weakref.WeakSet[Lock]" = weakref.WeakSet()


def _after_fork_in_child() -> None:
    for lock in list(_held):
        lock.forget()


os.register_at_fork(after_in_child=_after_fork_in_child)
