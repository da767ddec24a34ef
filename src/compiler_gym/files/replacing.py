# SPDX-License-Identifier: MIT
"""Files and folders that are written whole or not at all.

New contents are written beside the old ones and renamed over them at the end, so that a
crash, a full disk or an exception leaves what was there. A link stays a link, and a file
keeps its permissions.
"""

import ctypes
import glob
import os
import secrets
import stat
import warnings
from collections.abc import Generator
from contextlib import contextmanager, suppress
from itertools import takewhile
from pathlib import Path

from compiler_gym.errors import CacheWarning
from compiler_gym.files.paths import cache_path
from compiler_gym.files.temporary import process_prefix, remove_left, remove_tree

__all__ = [
    "keep",
    "make_folder",
    "replace_directory",
    "replace_file",
    "sync_path",
    "tool_identity",
    "write_whole",
]


def write_whole(path: Path, contents: bytes, *, sync: bool = False) -> None:
    """Write the file `path`, with its directory, so that nobody ever sees a part of it.

    With `sync` it is on the disk when this returns.
    """
    with replace_file(path, sync=sync) as partial:
        partial.write_bytes(contents)


def keep(path: Path, contents: bytes) -> None:
    """Write the file `path` of the cache whole, or give a `CacheWarning` if it cannot be.

    What is kept can be computed again, so nothing is lost but time.
    """
    try:
        write_whole(path, contents)
    except OSError as error:
        warnings.warn(
            f"the cache {cache_path('.').resolve()} cannot be written: expected a directory with "
            f"space that this user may write, found: {error.strerror or error}. Results are "
            "computed again each time; set COMPILER_GYM_CACHE to a directory that can be written",
            CacheWarning,
            stacklevel=2,
        )


@contextmanager
def replace_file(path: Path, *, sync: bool = True) -> Generator[Path]:
    """Yield the name of a file that takes the place of `path` when the block ends well.

    A device or a pipe is yielded itself.
    """
    target = Path(os.path.realpath(path))
    before = _status(path)
    if before is not None and not stat.S_ISREG(before.st_mode):
        yield path
        return
    partial = target.parent / f"{process_prefix(_partial(target))}{secrets.token_hex(4)}"
    with make_folder(target.parent):
        try:
            partial.touch(0o666 if before is None else 0o600, exist_ok=False)
            yield partial
            if before is not None:
                with suppress(PermissionError):
                    os.chown(partial, before.st_uid, before.st_gid)
                partial.chmod(stat.S_IMODE(before.st_mode))
            if sync:
                sync_path(partial)
            partial.replace(target)
            if sync:
                sync_path(target.parent)
        finally:
            partial.unlink(missing_ok=True)


@contextmanager
def replace_directory(path: Path) -> Generator[Path]:
    """Yield an empty directory that takes the place of `path` when the block ends well.

    Call it with `path` locked: what was left by processes that died is removed.
    """
    aside = path.parent / f".{path.name}.replaced"
    if aside.exists() and not path.exists():
        aside.rename(path)  # the process died between the two renames of a replacement
    remove_left(path.parent, glob.escape(_partial(path)))
    remove_tree(aside)
    partial = path.parent / f"{process_prefix(_partial(path))}{secrets.token_hex(4)}"
    with make_folder(path.parent):
        try:
            partial.mkdir()
            yield partial
            _sync_all_below(partial)
            if path.exists():
                path.rename(aside)
            try:
                partial.rename(path)
            except OSError:
                if aside.exists():
                    aside.rename(path)
                raise
            sync_path(path.parent)
        finally:
            remove_tree(partial)
    remove_tree(aside)


@contextmanager
def make_folder(folder: Path) -> Generator[None]:
    """Make `folder` and what is above it; where the block fails, remove what is empty of that."""
    missing = list(takewhile(lambda each: not os.path.lexists(each), (folder, *folder.parents)))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for each in missing:
            with suppress(OSError):
                each.rmdir()
        raise


def sync_path(path: Path) -> None:
    """Wait until a file, or which files a directory has, is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def tool_identity(path: str) -> str:
    """Return a text that changes when the program at `path` is replaced.

    Asking a compiler for its version takes longer than many programs take to compile.
    """
    real = os.path.realpath(path)
    found = os.stat(real)
    return f"{real} {found.st_size} {found.st_mtime_ns}"


def _partial(path: Path) -> str:
    return f".{path.name[:40]}.partial"  # a name has 255 bytes


def _status(path: Path) -> os.stat_result | None:
    with suppress(OSError):
        return path.stat()
    return None


def _sync_all_below(directory: Path) -> None:
    # One syncfs instead of an fsync for each of perhaps a million files.
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        if ctypes.CDLL(None, use_errno=True).syncfs(descriptor) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), str(directory))
    finally:
        os.close(descriptor)
