# SPDX-License-Identifier: MIT
"""Directories that outlive nobody: a process that is killed leaves them, and the next removes them.

Their names say whose they are. A zygote's and its workers' are in memory, all others in the
temporary directory of the system.
"""

import itertools
import os
import shutil
import stat
import tempfile
import time
import weakref
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from compiler_gym.files.paths import transient_cache_path

__all__ = [
    "KeptDirectory",
    "new_directory",
    "new_scratch",
    "process_prefix",
    "remove_left",
    "remove_tree",
    "scratch_directory",
    "sweep_temporary",
]

_swept: dict[tuple[Path, str], int] = {}
"""The process that has swept each kind, so that one which was forked does it again."""
_KIND = "compiler_gym-"
_serial = itertools.count()
_START_FIELD = 19
"""Of ``/proc/PID/stat``, after the name: when the process began, in clock ticks."""
_CLOCK_SECONDS = 2.0
"""How far the clocks of processes and of files may be apart."""


def process_prefix(kind: str) -> str:
    """Return how names of `kind` begin that no other running process gives."""
    return f"{kind}-{_namespace()}-{os.getpid()}-"


def remove_left(base: Path, pattern: str) -> None:
    """Remove what was named with `process_prefix` in `base` by processes that are no more."""
    for left in base.glob(f"{pattern}-{_namespace()}-*-*"):
        pid = left.name.split("-")[-2]
        if pid.isdigit() and not _may_belong_to(left, int(pid)):
            remove_tree(left)


def _sweep(base: Path, pattern: str) -> None:
    """Remove what the dead left, once in each process."""
    if _swept.get((base, pattern)) != os.getpid():
        _swept[base, pattern] = os.getpid()
        remove_left(base, pattern)


def sweep_temporary(base: Path | None = None) -> None:
    """Remove the directories of `new_directory` whose processes were killed."""
    _sweep(base or Path(tempfile.gettempdir()), f"{_KIND}*")


def remove_tree(path: Path) -> None:
    """Remove a directory with all that is in it, or a file, as far as this user may."""
    with suppress(FileNotFoundError):
        if not stat.S_ISDIR(path.lstat().st_mode):
            path.unlink()
            return
        try:
            shutil.rmtree(path)
        except (OSError, RecursionError):  # closed to its owner, or nested too deeply for Python
            with suppress(OSError):
                _remove_flattened(path)


def _remove_flattened(path: Path) -> None:
    """Remove a directory: those in it are moved to its top first, so that no path is too long."""
    left = [str(path)]
    while left:
        folder = left.pop()
        os.chmod(folder, stat.S_IRWXU)
        with os.scandir(folder) as entries:
            for entry in list(entries):
                if not entry.is_dir(follow_symlinks=False):
                    os.unlink(entry.path)
                    continue
                os.chmod(entry.path, stat.S_IRWXU)  # moving it changes its entry `..`
                left.append(tempfile.mkdtemp(dir=path))
                os.rename(entry.path, left[-1])
        if folder != str(path):
            os.rmdir(folder)
    os.rmdir(path)


def new_scratch(kind: str) -> Path:
    """Return the path of a directory in memory that no other process has; nothing is created.

    Whoever uses it removes it. Only where a process and what watches over it are killed at
    once does one stay, and the next process that asks for a directory removes it.
    """
    base = transient_cache_path()
    _sweep(base, "*")
    sweep_temporary()
    return base / f"{process_prefix(kind)}{next(_serial)}"


def new_directory(kind: str, base: Path | None = None) -> Path:
    """Make a temporary directory that a later process removes if this one is killed.

    It lies in `base`, or where the system keeps them.
    """
    sweep_temporary(base)
    return Path(tempfile.mkdtemp(prefix=process_prefix(_KIND + kind), dir=base))


@contextmanager
def scratch_directory(kind: str, base: Path | None = None) -> Generator[str]:
    """Make a temporary directory and remove it at the end; the next process does if killed."""
    directory = new_directory(kind, base)
    try:
        yield str(directory)
    finally:
        remove_tree(directory)


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
        remove_tree(path)
