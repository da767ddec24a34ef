# SPDX-License-Identifier: MIT
"""Locks between processes and threads, which end with their process however that ends.

The kernel's own (``flock``), so a kill leaves none behind. A lock is a file that names its
holder and is there only while it is held. A forked process holds none of its parent's locks.
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

__all__ = ["FolderLock", "Lock", "lock_path"]

_TRIES, _WAIT_SECONDS = 20, 0.05
"""Who has just taken a lock writes its name a moment later."""


class Lock:
    """A lock that is held until `release`, the end of a block, or the end of the process."""

    def __init__(self, path: Path, *, wait: bool = True) -> None:
        """Make and lock the file `path`; `wait` until others have released it, or raise.

        Raises `BlockingIOError`, of which ``strerror`` names the holder, where another has it,
        and `OSError` where the file cannot be made.
        """
        self.owner = os.getpid()
        """The process that holds it."""
        self._descriptor = _take(path, wait)
        _held.add(self)
        self._release = weakref.finalize(self, _release, path, self._descriptor, self.owner)
        with suppress(OSError):  # a full disk: others are refused, without a name
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, f"{self.owner} {socket.gethostname()}\n".encode(), 0)

    @property
    def is_held(self) -> bool:
        """True if this process may write: it took the lock and has not released it."""
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
            return cls(folder / "lock", wait=False)
        except BlockingIOError as held:
            raise CacheError(
                f"{folder} is written by {held.strerror}: wait until that has ended, or name "
                "another folder"
            ) from None


def lock_path(path: Path, *, wait: bool = True) -> Lock:
    """Return the lock of `path`, taken: it is the file ``.NAME.lock`` beside it, see `Lock`."""
    return Lock(path.parent / f".{path.name}.lock", wait=wait)


def _take(path: Path, wait: bool) -> int:
    """Return the file `path`, open and locked."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            if _is_at(path, descriptor):  # else who held it has removed it meanwhile
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
            words = path.read_text(errors="replace").split()
            if len(words) == 2 and (
                words[1] != socket.gethostname() or Path("/proc", words[0]).exists()
            ):
                ours = " (this one)" if words[0] == str(os.getpid()) else ""
                return f"process {words[0]}{ours} on {words[1]}"
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
        # Closing is not enough while a process forked just now has not forgotten it yet.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)


_held: "weakref.WeakSet[Lock]" = weakref.WeakSet()


def _after_fork_in_child() -> None:
    for lock in list(_held):
        lock.forget()


os.register_at_fork(after_in_child=_after_fork_in_child)
