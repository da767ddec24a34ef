# SPDX-License-Identifier: MIT
"""Modules that were made from something else, kept so that each is made once.

What is kept can be made again: it lies in the cache, under the hash of everything
that it was made from. A cache that cannot be written costs time, never a program.
"""

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from compiler_gym.paths import cache_path

__all__ = ["kept", "tool_identity", "write_whole"]


def kept(made_from: Iterable[str | bytes], make: Callable[[], bytes]) -> bytes:
    """Return what `make` returns, from the cache if it was made from the same before."""
    digest = hashlib.sha256()
    for part in made_from:
        data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little") + data)
    name = digest.hexdigest()
    path = cache_path("llvm-modules") / name[:2] / f"{name[2:]}.bc"
    try:
        return path.read_bytes()
    except OSError:
        pass
    contents = make()
    try:
        write_whole(path, contents)
    except OSError:
        pass
    return contents


def write_whole(path: Path, contents: bytes) -> None:
    """Write the file `path` so that nobody ever sees a part of it."""
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
