# SPDX-License-Identifier: MIT
"""Files that are written whole or not at all, and programs that tell when they are replaced."""

import os
import tempfile
from pathlib import Path

__all__ = ["tool_identity", "write_whole"]


def write_whole(path: Path, contents: bytes) -> None:
    """Write the file `path`, with its directory, so that nobody ever sees a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, partial = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(contents)
        os.replace(partial, path)
    except BaseException:
        os.unlink(partial)
        raise


def tool_identity(path: str) -> str:
    """Return a text that changes when the program at `path` is replaced.

    Asking a compiler for its version takes longer than many programs take to compile.
    """
    real = os.path.realpath(path)
    found = os.stat(real)
    return f"{real} {found.st_size} {found.st_mtime_ns}"
