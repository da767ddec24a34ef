# SPDX-License-Identifier: MIT
"""Files that grow by whole lines: a line is there whole, or nothing of it is.

What a full disk cuts short is taken back at once, and what a kill cuts short by whoever
appends next. Several processes and threads may append to one file.
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

__all__ = [
    "append",
    "append_line",
    "drop_cut_line",
    "lines",
    "open_appending",
    "whole_lines",
    "write_all",
]


def append_line(path: Path, document: Mapping[str, Any], *, sync: bool = True) -> None:
    """Append one line of JSON; with `sync` it is on the disk when this returns. See `append`."""
    append(path, (json.dumps(document) + "\n").encode(), sync=sync)


def append(path: Path, data: bytes, *, sync: bool = False) -> None:
    """Append whole lines to the file `path`, which is made with its folder where there is none.

    They are there when this returns, and nothing of them when this raises `OSError`, which
    names the file: a full disk takes the beginning of a line.
    """
    try:
        descriptor = open_appending(path)
        try:
            is_new = False
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                with suppress(OSError):  # a file system without locks
                    fcntl.flock(descriptor, fcntl.LOCK_EX)
                is_new = not os.fstat(descriptor).st_size
                with suppress(PermissionError):  # a file that may be written and not read
                    _mend(str(path))
            write_all(descriptor, data, sync=sync)
        finally:
            os.close(descriptor)
        if sync and is_new:
            sync_path(path.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def open_appending(path: Path) -> int:
    """Open the file `path` to append to it, and make it and its folder where there is none."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
    try:
        return os.open(path, flags, 0o666)
    except FileNotFoundError:
        with make_folder(path.parent):
            return os.open(path, flags, 0o666)


def write_all(descriptor: int, data: bytes, *, sync: bool = False) -> None:
    """Write `data` at the end of an open file: all of it, or nothing where that can be undone."""
    before = os.fstat(descriptor).st_size
    left = memoryview(data)
    try:
        while left:
            written = os.write(descriptor, left)
            if not written:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            left = left[written:]
        if sync:
            os.fsync(descriptor)
    except BaseException:
        with suppress(OSError):  # a pipe or a device
            os.ftruncate(descriptor, before)
        raise


def drop_cut_line(path: Path) -> None:
    """Remove the end of a file that a kill cut off in mid-line; no file is no harm.

    A last line that lacks nothing but its end gets one, and so does one that is no JSON.
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
        whole = data.rfind(b"\n") + 1
        if _is_cut(data[whole:]):
            file.truncate(whole)  # a full disk allows it
        else:
            file.write(b"\n")


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield every line; no file has none.

    Raises `ValueError` that names the file and the line where one is no object of JSON.
    """
    for number, line in _number_lines(path):
        if not line.strip():
            continue
        try:
            found: Any = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path}, line {number} is damaged: {error}") from error
        if not isinstance(found, dict):
            raise ValueError(f"{path}, line {number} is damaged: expected an object of JSON")
        yield cast("dict[str, Any]", found)


def whole_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield every line that is an object, and pass over what is damaged."""
    for _, line in _number_lines(path):
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            yield found


def _number_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    if path.is_file():
        yield from enumerate(path.read_bytes().split(b"\n"), start=1)


def _is_cut(line: bytes) -> bool:
    """Return whether `line` is the beginning of an object of JSON."""
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return line.startswith(b"{")
    return False
