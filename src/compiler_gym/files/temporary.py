# SPDX-License-Identifier: MIT
"""Directories that end with their process: if it is killed, a later process removes them.

Their names contain the process. Directories of zygotes and workers are in memory, all others in
the system's temporary directory.
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

_swept: dict[tuple[Path, str], int] = {}
"""The process that has swept each kind, so that a forked process sweeps again."""
_KIND = "compiler_gym-"
_serial = itertools.count()
_START_FIELD = 19
"""The index in ``/proc/PID/stat``, after the name, of the start time in clock ticks."""
_CLOCK_SECONDS = 2.0
"""The largest difference between the clocks of processes and of files."""


def process_prefix(kind: str) -> str:
    """Return a prefix for names of `kind` that no other running process uses."""
    return f"{kind}-{_namespace()}-{os.getpid()}-"


def remove_left(base: Path, pattern: str) -> None:
    """Remove paths in `base` named with `process_prefix` by processes that have ended."""
    for path in base.glob(f"{pattern}-{_namespace()}-*-*"):
        pid = path.name.split("-")[-2]
        if pid.isdigit() and not _may_belong_to(path, int(pid)):
            remove_tree(path)


def _sweep(base: Path, pattern: str) -> None:
    """Remove leftovers of dead processes, once in each process."""
    if _swept.get((base, pattern)) != os.getpid():
        _swept[base, pattern] = os.getpid()
        remove_left(base, pattern)


def sweep_temporary(base: Path | None = None) -> None:
    """Remove the directories of `new_directory` whose processes were killed."""
    _sweep(base or Path(tempfile.gettempdir()), f"{_KIND}*")


def remove_tree(path: Path) -> None:
    """Remove a directory and its contents, or a file, as far as permissions allow."""
    with suppress(FileNotFoundError):
        if not stat.S_ISDIR(path.lstat().st_mode):
            path.unlink()
            return
        try:
            shutil.rmtree(path)
        except (OSError, RecursionError):  # not readable by its owner, or nested too deeply
            with suppress(OSError):
                _remove_flattened(path)


def _remove_flattened(path: Path) -> None:
    """Remove a directory after moving nested ones to its top, so that no path is too long."""
    pending = [str(path)]
    while pending:
        folder = pending.pop()
        os.chmod(folder, stat.S_IRWXU)
        with os.scandir(folder) as entries:
            for entry in list(entries):
                if not entry.is_dir(follow_symlinks=False):
                    os.unlink(entry.path)
                    continue
                os.chmod(entry.path, stat.S_IRWXU)  # moving it changes its entry `..`
                pending.append(tempfile.mkdtemp(dir=path))
                os.rename(entry.path, pending[-1])
        if folder != str(path):
            os.rmdir(folder)
    os.rmdir(path)


def new_scratch(kind: str) -> Path:
    """Return the path of a directory in memory that no other process has; nothing is created.

    The caller removes it. It stays only if a process and its supervisor are killed together; then
    the next process that needs such a directory removes it.
    """
    base = transient_cache_path()
    _sweep(base, "*")
    sweep_temporary()
    return base / f"{process_prefix(kind)}{next(_serial)}"


def new_directory(kind: str, base: Path | None = None) -> Path:
    """Make a temporary directory that a later process removes if this one is killed.

    It is in `base`, or in the system's directory for temporary files.
    """
    sweep_temporary(base)
    return Path(tempfile.mkdtemp(prefix=process_prefix(_KIND + kind), dir=base))


@contextmanager
def scratch_directory(kind: str, base: Path | None = None) -> Generator[str]:
    """Make a temporary directory and remove it at the end; if killed, the next process does."""
    directory = new_directory(kind, base)
    try:
        yield str(directory)
    finally:
        remove_tree(directory)


def _may_belong_to(path: Path, pid: int) -> bool:
    """Return whether process `pid` runs and may have made `path`; process ids are reused."""
    began = _began(pid)
    if began is None:
        return Path("/proc", str(pid)).exists()
    own_start = _began(os.getpid())
    if own_start is None or own_start > time.time() + _CLOCK_SECONDS:
        return True  # the clocks of processes and of files cannot be compared
    try:
        return began <= path.lstat().st_mtime + _CLOCK_SECONDS
    except OSError:
        return True


def _began(pid: int) -> float | None:
    """Return the start of process `pid`, in seconds of `time.time`, or None if it is unknown."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        up = time.clock_gettime(time.CLOCK_BOOTTIME)
        return time.time() - up + int(words[_START_FIELD]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None


def _namespace() -> int:
    """Return a number that identifies the PID namespace, for containers that share a disk."""
    try:
        return os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return 0


class KeptDirectory:
    """A new private directory that exists as long as this object.

    The end of a forked process does not remove it.
    """

    def __init__(self, kind: str) -> None:
        self.path = new_directory(kind)
        weakref.finalize(self, _remove, self.path, os.getpid())


def _remove(path: Path, owner: int) -> None:
    if os.getpid() == owner:
        remove_tree(path)
