# SPDX-License-Identifier: MIT
"""Files of JSON lines that outlive a kill: a line is there whole, or it is dropped."""

import errno
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from compiler_gym.files import write_whole

__all__ = [
    "append_line",
    "close_last_line",
    "drop_cut_line",
    "lines",
    "replace_lines",
    "whole_lines",
]


def append_line(path: Path, document: Mapping[str, Any], *, sync: bool = True) -> None:
    """Append one line; with `sync` it is on the disk when this returns.

    The line is there whole when this returns, and nothing of it when this raises
    `OSError`, which names the file: a full disk takes the beginning of a line.
    """
    data = (json.dumps(document) + "\n").encode()
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        before = os.fstat(descriptor).st_size
        try:
            _write_all(descriptor, data)
            if sync:
                os.fsync(descriptor)
        except OSError as error:
            with suppress(OSError):  # a device
                os.ftruncate(descriptor, before)
            raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        os.close(descriptor)
    if sync and not before:
        _sync_directory(path.parent)  # the file may be new


def replace_lines(path: Path, documents: Iterable[Mapping[str, Any]]) -> None:
    """Write a file of lines anew, whole or not at all; it is on the disk when this returns."""
    text = "".join(json.dumps(document) + "\n" for document in documents)
    write_whole(path, text.encode(), sync=True)
    _sync_directory(path.parent)


def drop_cut_line(path: Path) -> None:
    """Remove the end of a file that a kill cut off in mid-line; no file is no harm."""
    if not path.is_file():
        return
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        os.truncate(path, whole)  # a full disk allows it


def _write_all(descriptor: int, data: bytes) -> None:
    """Write all of `data`: one call does, but for a disk that is full or nearly so."""
    left = memoryview(data)
    while left:
        written = os.write(descriptor, left)
        if not written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        left = left[written:]


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def close_last_line(path: Path) -> None:
    """End a last line that has no end, so that the next one begins anew."""
    if not path.is_file():
        return
    with path.open("rb+") as file:
        if not file.seek(0, os.SEEK_END):
            return
        file.seek(-1, os.SEEK_END)
        if file.read(1) != b"\n":
            file.write(b"\n")


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield every line; no file has none.

    Raises `ValueError` that names the file and the line where one is no object of JSON.
    """
    if not path.is_file():
        return
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
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
    if not path.is_file():
        return
    for line in path.read_bytes().split(b"\n"):
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            yield found
