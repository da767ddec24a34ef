# SPDX-License-Identifier: MIT
"""Files that are written whole, or read though a stranger named them; directories and tools.

A process that is killed leaves its directories. Their names say whose they are, and the
next process of this library removes those of processes that are no more.
"""

import errno
import os
import secrets
import shutil
import stat
import tempfile
import time
import warnings
import weakref
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from compiler_gym.errors import CacheWarning
from compiler_gym.paths import cache_path

__all__ = [
    "KeptDirectory",
    "keep",
    "new_directory",
    "process_prefix",
    "read_regular",
    "scratch_directory",
    "sweep",
    "sweep_temporary",
    "tool_identity",
    "write_whole",
]

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


def write_whole(path: Path, contents: bytes, *, sync: bool = False) -> None:
    """Write the file `path`, with its directory, so that nobody ever sees a part of it.

    With `sync` its contents are on the disk when it gets its name.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
    try:
        with partial.open("xb") as file:
            file.write(contents)
            if sync:
                file.flush()
                os.fsync(file.fileno())
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


_swept: dict[tuple[Path, str], int] = {}
"""The process that has swept each kind, so that one which was forked does it again."""
_KIND = "compiler_gym-"
_START_FIELD = 19
"""Of ``/proc/PID/stat``, after the name: when the process began, in clock ticks."""
_CLOCK_SECONDS = 2.0
"""How far the clocks of processes and of files may be apart."""


def process_prefix(kind: str) -> str:
    """Return how names of `kind` begin that no other running process gives: `sweep` reads it."""
    return f"{kind}-{_namespace()}-{os.getpid()}-"


def sweep(base: Path, kind: str, remove: Callable[[Path], None]) -> None:
    """Remove what was named with `process_prefix` in `base` by processes that are no more.

    `kind` may be a pattern. It is done once by each process, and for its own namespace.
    """
    if _swept.get((base, kind)) == os.getpid():
        return
    _swept[base, kind] = os.getpid()
    for left in base.glob(f"{kind}-{_namespace()}-*-*"):
        pid = left.name.split("-")[-2]
        if pid.isdigit() and not _may_belong_to(left, int(pid)):
            remove(left)


def sweep_temporary() -> None:
    """Remove the directories of `new_directory` whose processes were killed."""
    sweep(Path(tempfile.gettempdir()), f"{_KIND}*", partial(shutil.rmtree, ignore_errors=True))


def new_directory(kind: str) -> Path:
    """Make a temporary directory that a later process removes if this one is killed."""
    sweep_temporary()
    return Path(tempfile.mkdtemp(prefix=process_prefix(_KIND + kind)))


@contextmanager
def scratch_directory(kind: str) -> Generator[str]:
    """Make a temporary directory and remove it at the end; the next process does if killed."""
    directory = new_directory(kind)
    try:
        yield str(directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _may_belong_to(path: Path, pid: int) -> bool:
    """Return whether process `pid` runs and may have made `path`: its number comes again."""
    began = _began(pid)
    if began is None:
        return Path("/proc", str(pid)).exists()
    ours = _began(os.getpid())
    if ours is None or ours > time.time() + _CLOCK_SECONDS:
        return True  # the clock of processes is not one that files are compared with
    try:
        return began <= path.lstat().st_mtime + _CLOCK_SECONDS
    except OSError:
        return True


def _began(pid: int) -> float | None:
    """Return when process `pid` began, in seconds of `time.time`, or None if it cannot be told."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        up = time.clock_gettime(time.CLOCK_BOOTTIME)
        return time.time() - up + int(words[_START_FIELD]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None


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

    def __init__(self, kind: str) -> None:
        self.path = new_directory(kind)
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
