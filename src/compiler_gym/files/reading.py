# SPDX-License-Identifier: MIT
"""Reads files: up to a size limit if their names are untrusted, or to compute a digest."""

import errno
import hashlib
import os
import stat
from pathlib import Path

__all__ = ["hash_file", "read_regular"]

_MOST_BYTES = 1 << 30
_CHUNK_BYTES = 1 << 20


def read_regular(path: str | Path, *, most: int = _MOST_BYTES) -> bytes:
    """Return the contents of a regular file of at most `most` bytes, with a name from a caller.

    Raises `OSError` with the reason in ``strerror``, also if the text is not a valid path. Devices
    and pipes are not opened, and reading never blocks.
    """
    try:
        status = os.stat(path)
    except ValueError as error:  # a NUL character, or half of a surrogate pair
        raise OSError(errno.EINVAL, f"invalid path: {error}", repr(str(path))) from error
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "a pipe or a device, not a regular file", str(path))
    contents, size = bytearray(), status.st_size
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        while size <= most and (piece := os.read(descriptor, _CHUNK_BYTES)):
            contents += piece
            size = max(size, len(contents))
    finally:
        os.close(descriptor)
    if size > most:
        raise OSError(errno.EFBIG, f"{size:,} bytes exceed the limit of {most:,}", str(path))
    return bytes(contents)


def hash_file(path: Path) -> str:
    """Return the SHA-256 of the file `path`, in hexadecimal; raise `OSError`."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
