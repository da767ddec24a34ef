# SPDX-License-Identifier: MIT
"""Files and folders that are written completely or not at all.

New contents are written to a temporary name in the same folder and renamed at the end, so that a
crash, a full disk or an exception keeps the old contents. A link stays a link, and a file
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

from compiler_gym.errors import CacheWarning, CompilerGymError
from compiler_gym.files.paths import cache_path
from compiler_gym.files.temporary import process_prefix, remove_left, remove_tree


def write_whole(path: Path, contents: bytes, *, sync: bool = False) -> None:
    """Write the file `path` and its directory; other processes never see a part of the file.

    With `sync`, return only once it is on the disk.
    """
    with replace_file(path, sync=sync) as partial:
        partial.write_bytes(contents)


def keep(path: Path, contents: bytes) -> None:
    """Write the file `path` of the cache, or raise a `CacheWarning` if that is impossible.

    Cached results can be computed again, so only time is lost.
    """
    try:
        write_whole(path, contents)
    except OSError as error:
        warnings.warn(
            f"cannot write the cache {cache_path('.').resolve()}: {error.strerror or error}. "
            "Results are computed again each time; set COMPILER_GYM_CACHE to a writable "
            "directory with free space",
            CacheWarning,
            stacklevel=2,
        )


@contextmanager
def replace_file(path: Path, *, sync: bool = True) -> Generator[Path]:
    """Yield the name of a file that replaces `path` when the block ends without an error.

    If `path` is a device or a pipe, yield it instead.
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
    """Yield an empty directory that replaces `path` when the block ends without an error.

    Call it with `path` locked: it removes leftovers of processes that died.
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
    """Create `folder` and its parents; if the block fails, remove the new ones that are empty."""
    missing = list(takewhile(lambda parent: not os.path.lexists(parent), (folder, *folder.parents)))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for parent in missing:
            with suppress(OSError):
                parent.rmdir()
        raise


def sync_path(path: Path) -> None:
    """Wait until a file, or the list of files in a directory, is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def tool_identity(path: str) -> str:
    """Return a text that changes when the program at `path` is replaced.

    Running a compiler for its version takes longer than compiling many programs.
    """
    real = os.path.realpath(path)
    status = os.stat(real)
    return f"{real} {status.st_size} {status.st_mtime_ns}"


def _partial(path: Path) -> str:
    return f".{path.name[:40]}.partial"  # a name has at most 255 bytes


def _status(path: Path) -> os.stat_result | None:
    with suppress(OSError):
        return path.stat()
    return None


def _sync_all_below(directory: Path) -> None:
    # A single syncfs is faster than an fsync for each of perhaps a million files.
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        if ctypes.CDLL(None, use_errno=True).syncfs(descriptor) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), str(directory))
    finally:
        os.close(descriptor)


@contextmanager
def writing(path: str | Path, kind: type[CompilerGymError]) -> Generator[None]:
    """Raise an error of the class `kind` if the block cannot write to `path`.

    Errors of this library pass through.
    """
    try:
        yield
    except CompilerGymError:
        raise
    except OSError as error:
        reason = error.strerror or error
        raise kind(f"cannot write {path}: {reason}: choose another path") from error
