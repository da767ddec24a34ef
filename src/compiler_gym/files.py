# SPDX-License-Identifier: MIT
"""Files that are written whole or not at all, and programs that tell when they are replaced."""

import os
import secrets
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Callable
from pathlib import Path

from compiler_gym.errors import CacheWarning
from compiler_gym.paths import cache_path

__all__ = ["KeptDirectory", "keep", "process_prefix", "sweep", "tool_identity", "write_whole"]


def write_whole(path: Path, contents: bytes) -> None:
    """Write the file `path`, with its directory, so that nobody ever sees a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
    try:
        with partial.open("xb") as file:
            file.write(contents)
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


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


_swept: dict[str, int] = {}
"""The process that has swept each kind, so that one which was forked does it again."""


def process_prefix(kind: str) -> str:
    """Return how names of `kind` begin that no other running process gives: `sweep` reads it."""
    return f"{kind}-{_namespace()}-{os.getpid()}-"


def sweep(base: Path, kind: str, remove: Callable[[Path], None]) -> None:
    """Remove what was named with `process_prefix` in `base` by processes that are no more.

    `kind` may be a pattern. It is done once by each process, and for its own namespace.
    """
    if _swept.get(kind) == os.getpid():
        return
    _swept[kind] = os.getpid()
    for left in base.glob(f"{kind}-{_namespace()}-*-*"):
        pid = left.name.split("-")[-2]
        if pid.isdigit() and not Path("/proc", pid).exists():
            remove(left)


def _namespace() -> int:
    """Return what tells apart processes of one number in containers that share a disk."""
    try:
        return os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return 0


class KeptDirectory:
    """A new directory that is there for as long as this object, of no use to anybody else.

    A forked process that ends leaves it alone.
    """

    def __init__(self, prefix: str) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=prefix))
        weakref.finalize(self, _remove, self.path, os.getpid())


def _remove(path: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)


def tool_identity(path: str) -> str:
    """Return a text that changes when the program at `path` is replaced.

    Asking a compiler for its version takes longer than many programs take to compile.
    """
    real = os.path.realpath(path)
    found = os.stat(real)
    return f"{real} {found.st_size} {found.st_mtime_ns}"
