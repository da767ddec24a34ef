# SPDX-License-Identifier: MIT
"""One writer for a folder: a lock that ends with its process, however that ends.

The kernel's own (``flock``) and no library's: it has to say who holds it, and a file
that is only there outlives a kill.
"""

import fcntl
import os
import socket
import time
import weakref
from contextlib import suppress
from pathlib import Path

from compiler_gym.errors import CacheError

__all__ = ["FolderLock"]

_NAME = "lock"
_TRIES, _WAIT_SECONDS = 20, 0.05
"""Who has just taken a lock writes its name a moment later."""


class FolderLock:
    """Held from `take` to `release`, or until its process ends."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.owner = os.getpid()
        """The process that holds it."""
        _held.add(self)
        self._release = weakref.finalize(self, _release, descriptor, self.owner)

    @classmethod
    def take(cls, folder: Path) -> "FolderLock":
        """Lock `folder`; raise `CacheError` that names the process which holds it.

        Raises `OSError` where the folder cannot be written.
        """
        path = folder / _NAME
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise CacheError(
                f"{folder} is written by {_holder(path)}: wait until that has ended, or name "
                "another folder"
            ) from None
        except BaseException:
            os.close(descriptor)
            raise
        with suppress(OSError):  # a full disk: others are refused, without a name
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()} {socket.gethostname()}\n".encode(), 0)
        return cls(descriptor)

    @property
    def is_held(self) -> bool:
        """Whether this process may write: it took the lock and has not released it."""
        return self._release.alive and self.owner == os.getpid()

    def release(self) -> None:
        """Let others write."""
        self._release()

    def forget(self) -> None:
        """Close what a forked process inherited: it would hold the lock for its parent."""
        if self._release.detach() is not None:
            os.close(self._descriptor)


_held: "weakref.WeakSet[FolderLock]" = weakref.WeakSet()


def _release(descriptor: int, owner: int) -> None:
    if owner == os.getpid():
        with suppress(OSError):
            os.ftruncate(descriptor, 0)
        # Closing is not enough while a process forked just now has not forgotten it yet.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)


def _holder(path: Path) -> str:
    for _ in range(_TRIES):
        words = path.read_text(errors="replace").split()
        if len(words) == 2 and (
            words[1] != socket.gethostname() or Path("/proc", words[0]).exists()
        ):
            ours = " (this one)" if words[0] == str(os.getpid()) else ""
            return f"process {words[0]}{ours} on {words[1]}"
        time.sleep(_WAIT_SECONDS)
    return "another process"


def _after_fork_in_child() -> None:
    for lock in list(_held):
        lock.forget()


os.register_at_fork(after_in_child=_after_fork_in_child)
