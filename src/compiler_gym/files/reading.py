# SPDX-License-Identifier: MIT
"""Read files: with untrusted names up to a size limit, to compute a digest, or to detect damage."""

import errno
import hashlib
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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


_SEAL = "seal"


def seal(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return `record` with its digest, replacing an old one.

    >>> is_intact(seal({"rows": 3})), is_intact({**seal({"rows": 3}), "rows": 2})
    (True, False)
    """
    plain = {name: value for name, value in record.items() if name != _SEAL}
    text = json.dumps(plain, sort_keys=True)
    return {**plain, _SEAL: hashlib.sha256(text.encode()).hexdigest()[:16]}


def is_intact(record: Mapping[str, Any]) -> bool:
    """Return whether `record` matches its digest, or has none because an old version wrote it."""
    return _SEAL not in record or record == seal(record)
