# SPDX-License-Identifier: MIT
"""Files that grow by whole lines: each line is written completely or not at all.

If the disk is full, a partial line is removed at once; after a kill, the next writer removes
it. Several processes and threads may append to one file.
"""

import errno
import fcntl
import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from compiler_gym.files.replacing import make_folder, sync_path


def append_line(path: Path, document: Mapping[str, Any], *, sync: bool = True) -> None:
    """Append one line of JSON; with `sync`, return only once it is on the disk. See `append`."""
    append(path, (json.dumps(document) + "\n").encode(), sync=sync)


def append(path: Path, data: bytes, *, sync: bool = False) -> None:
    """Append whole lines to the file `path`; create it and its folder if necessary.

    Either all lines are written, or none and this raises `OSError` with the name of the file: a
    full disk may accept only the beginning of a line.
    """
    try:
        descriptor = open_appending(path)
        try:
            is_new = False
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                with suppress(OSError):  # the file system may not support locks
                    fcntl.flock(descriptor, fcntl.LOCK_EX)
                is_new = not os.fstat(descriptor).st_size
                with suppress(PermissionError):  # the file may be writable but not readable
                    _mend(str(path))
            write_all(descriptor, data, sync=sync)
        finally:
            os.close(descriptor)
        if sync and is_new:
            sync_path(path.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def open_appending(path: Path) -> int:
    """Open the file `path` for appending; create it and its folder if necessary."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
    try:
        return os.open(path, flags, 0o666)
    except FileNotFoundError:
        with make_folder(path.parent):
            return os.open(path, flags, 0o666)


def write_all(descriptor: int, data: bytes, *, sync: bool = False) -> None:
    """Write all of `data` at the end of an open file, or nothing if the file can be truncated."""
    before = os.fstat(descriptor).st_size
    remaining = memoryview(data)
    try:
        while remaining:
            written = os.write(descriptor, remaining)
            if not written:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            remaining = remaining[written:]
        if sync:
            os.fsync(descriptor)
    except BaseException:
        with suppress(OSError):  # a pipe or a device cannot be truncated
            os.ftruncate(descriptor, before)
        raise


def drop_cut_line(path: Path) -> None:
    """Remove an incomplete last line that a kill left; do nothing if there is no file.

    A last line without a newline gets one if it is complete, or not JSON.
    """
    if path.is_file():
        _mend(str(path))


def _mend(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        size = os.fstat(descriptor).st_size
        if not size or os.pread(descriptor, 1, size - 1) == b"\n":
            return
    finally:
        os.close(descriptor)
    with open(path, "rb+") as file:
        data = file.read()
        end = data.rfind(b"\n") + 1
        if _is_cut(data[end:]):
            file.truncate(end)  # works on a full disk
        else:
            file.write(b"\n")


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield every line; none if there is no file.

    Raises `ValueError` with the file and the line number if a line is not a JSON object.
    """
    for number, line in _number_lines(path):
        if not line.strip():
            continue
        try:
            document: Any = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path}, line {number} is damaged: {error}") from error
        if not isinstance(document, dict):
            raise ValueError(f"{path}, line {number} is damaged: it must be a JSON object")
        yield cast("dict[str, Any]", document)


def whole_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield every line that is a JSON object, and skip damaged lines."""
    for _, line in _number_lines(path):
        try:
            document = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(document, dict):
            yield document


def _number_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    if path.is_file():
        yield from enumerate(path.read_bytes().split(b"\n"), start=1)


def _is_cut(line: bytes) -> bool:
    """Return whether `line` is the beginning of a JSON object."""
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return line.startswith(b"{")
    return False
