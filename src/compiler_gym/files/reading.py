# SPDX-License-Identifier: MIT
"""Reads files: those whose names are untrusted up to a size limit, others for their digests."""

import errno
import hashlib
import os
import stat
from pathlib import Path

__all__ = ["hash_file", "read_regular"]

_MOST_BYTES = 1 << 30
_CHUNK_BYTES = 1 << 20


def read_regular(path: str | Path, *, most: int = _MOST_BYTES) -> bytes:
    """Return the contents of a file that a caller names: a regular one of at most `most` bytes.

    Raises `OSError` whose ``strerror`` says why it is not read, also for a text that is no path.
    A device or a pipe is not opened, and a file that would wait for more is not waited for.
    """
    try:
        found = os.stat(path)
    except ValueError as error:  # a NUL, or half of a surrogate pair
        raise OSError(errno.EINVAL, f"it cannot be a path: {error}", repr(str(path))) from error
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "expected a regular file, found a pipe or a device", str(path))
    contents, size = bytearray(), found.st_size
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        while size <= most and (piece := os.read(descriptor, _CHUNK_BYTES)):
            contents += piece
            size = max(size, len(contents))
    finally:
        os.close(descriptor)
    if size > most:
        raise OSError(errno.EFBIG, f"expected at most {most:,} bytes, found {size:,}", str(path))
    return bytes(contents)


def hash_file(path: Path) -> str:
    """Return the SHA-256 of the contents of the file `path`, in hexadecimal; raise `OSError`."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
