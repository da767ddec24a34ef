# SPDX-License-Identifier: MIT
"""Replace a directory or a file as a whole: locked between processes, or not at all.

New contents are written beside the old ones and renamed over them at the end, so
that a crash, a full disk or an exception leaves what was there. Errors of the
operating system become `DatasetInitError`.
"""

import ctypes
import errno
import fcntl
import os
import secrets
import shutil
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from compiler_gym.errors import DatasetInitError

__all__ = ["as_dataset_errors", "locked", "new_directory", "new_file", "partial_path"]

_POLL_SECONDS = 0.05


@contextmanager
def locked(path: Path, *, timeout: float | None = None) -> Generator[None]:
    """Hold the lock of `path` against other processes and threads; wait at most `timeout`.

    The lock is the file ``.NAME.lock`` beside `path`; the kernel releases it
    when its holder ends, however it ends.
    """
    lock = path.parent / f".{path.name}.lock"
    with as_dataset_errors(f"cannot write to {path.parent}"):
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        _acquire(descriptor, path, timeout)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def new_directory(path: Path) -> Generator[Path]:
    """Yield an empty directory that takes the place of `path` when the block ends well.

    Call it with `path` locked: leftovers of processes that died are removed.
    """
    remove_leftovers(path)
    partial = path.parent / f".{path.name}.{secrets.token_hex(4)}.partial"
    with as_dataset_errors(f"cannot install {path}"):
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.mkdir()
        try:
            yield partial
            _flush(partial)
            _swap(partial, path)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def new_file(path: Path) -> Generator[Path]:
    """Yield the name of a file that takes the place of `path` when the block ends well."""
    partial = partial_path(path)
    with as_dataset_errors(f"cannot write {path}"):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield partial
            _flush(partial)
            partial.replace(path)
            _flush(path.parent)
        finally:
            partial.unlink(missing_ok=True)


def partial_path(path: Path) -> Path:
    """Return a new name beside `path` for what is not complete yet."""
    return path.parent / f".{path.name}.{secrets.token_hex(4)}.partial"


def remove_leftovers(path: Path) -> None:
    """Remove what installs of `path` that were killed have left."""
    for leftover in path.parent.glob(f".{_escaped(path.name)}.????????.partial"):
        if leftover.is_dir():
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            leftover.unlink(missing_ok=True)
    replaced = path.parent / f".{path.name}.replaced"
    if replaced.exists() and not path.exists():
        # The process died between the two renames of a replacement.
        replaced.rename(path)
    shutil.rmtree(replaced, ignore_errors=True)


@contextmanager
def as_dataset_errors(what: str) -> Generator[None]:
    """Turn the errors of the operating system into `DatasetInitError`, with advice."""
    try:
        yield
    except DatasetInitError:
        raise
    except OSError as error:
        if type(error).__module__.startswith("compiler_gym"):
            raise
        advice = _ADVICE.get(error.errno or 0, "")
        raise DatasetInitError(f"{what}: {error.strerror or error}{advice}") from error


_ELSEWHERE = ": set COMPILER_GYM_SITE_DATA to a directory that can be written"
_ADVICE = {
    errno.EACCES: _ELSEWHERE,
    errno.EPERM: _ELSEWHERE,
    errno.EROFS: _ELSEWHERE,
    errno.ENOSPC: f": make room, or{_ELSEWHERE[1:]}",
    errno.EDQUOT: f": make room, or{_ELSEWHERE[1:]}",
}


def _acquire(descriptor: int, path: Path, timeout: float | None) -> None:
    deadline = None if timeout is None else time.monotonic() + timeout
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if deadline is None else fcntl.LOCK_NB))
            return
        except BlockingIOError:
            if deadline is not None and time.monotonic() > deadline:
                raise DatasetInitError(
                    f"another process has been working on {path} for {timeout} seconds"
                ) from None
            time.sleep(_POLL_SECONDS)


def _swap(partial: Path, path: Path) -> None:
    replaced = path.parent / f".{path.name}.replaced"
    if path.exists():
        path.rename(replaced)
    try:
        partial.rename(path)
    except OSError:
        if replaced.exists():
            replaced.rename(path)
        raise
    _flush(path.parent)
    shutil.rmtree(replaced, ignore_errors=True)


def _flush(path: Path) -> None:
    # One syncfs instead of an fsync for each of perhaps a million files.
    descriptor = os.open(path, os.O_RDONLY)
    try:
        if path.is_dir() and _SYNCFS is not None:
            if _SYNCFS(descriptor) != 0:
                number = ctypes.get_errno()
                raise OSError(number, os.strerror(number), str(path))
        else:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


_SYNCFS = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)


def _escaped(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "[]*?" else letter for letter in name)
