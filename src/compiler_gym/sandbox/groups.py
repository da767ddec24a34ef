# SPDX-License-Identifier: MIT
"""A control group (cgroup v2) for one sandbox: the kernel bounds its memory and processes.

This process may make one as root, or in a group that was delegated to the user. Without one, the
helper checks the sandbox every 50 ms.
"""

import itertools
import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_MOUNTS = ("/sys/fs/cgroup", "/sys/fs/cgroup/unified")
_NEEDED = {"memory", "pids"}
_count = itertools.count()


@dataclass(frozen=True, slots=True)
class ControlGroup:
    """The control group of one sandbox while it runs."""

    path: Path
    descriptor: int

    def find_passed_limit(self) -> str | None:
        """Return the limit that the kernel enforced: ``memory`` or ``processes``, or None."""
        if _events(self.path / "memory.events", "oom_kill"):
            return "memory"
        return "processes" if _events(self.path / "pids.events", "max") else None


@contextmanager
def group_for(memory_bytes: int, processes: int) -> Generator[ControlGroup | None]:
    """Yield a group with these bounds, removed at the end; None if none can be made."""
    parent = _parent()
    group = None if parent is None else _new_group(parent, memory_bytes, processes)
    try:
        yield group
    finally:
        if group is not None:
            os.close(group.descriptor)
            try:
                group.path.rmdir()
            except OSError:  # a process has not ended yet; the next group has another name
                pass


def _new_group(parent: Path, memory_bytes: int, processes: int) -> ControlGroup | None:
    path = parent / f"compiler_gym-{os.getpid()}-{next(_count)}"
    try:
        path.mkdir()
    except OSError:
        return None
    try:
        if memory_bytes:
            (path / "memory.max").write_text(str(memory_bytes))
        (path / "pids.max").write_text(str(processes + 1))  # one more for the helper
        for name, text in (("memory.swap.max", "0"), ("memory.oom.group", "0")):
            if (path / name).exists():
                (path / name).write_text(text)
        return ControlGroup(path, os.open(path, os.O_RDONLY | os.O_DIRECTORY))
    except OSError:
        path.rmdir()
        return None


@cache
def _parent() -> Path | None:
    """Return the nearest enclosing group in which this process may make a bounded one."""
    for mount in map(Path, _MOUNTS):
        own = _own_group(mount)
        if own is None:
            continue
        for folder in (own, *own.parents):
            if folder == mount.parent:
                break
            if _may_hold_boxes(folder):
                return folder
    return None


def _own_group(mount: Path) -> Path | None:
    if not (mount / "cgroup.controllers").is_file():
        return None
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return None
    group = next((line.partition("::")[2] for line in lines if line.startswith("0::")), None)
    return None if group is None else mount / group.strip("/")


def _may_hold_boxes(folder: Path) -> bool:
    try:
        controllers = set((folder / "cgroup.subtree_control").read_text().split())
    except OSError:
        return False
    return controllers >= _NEEDED and all(
        os.access(path, os.W_OK) for path in (folder, folder / "cgroup.procs")
    )


def _events(path: Path, name: str) -> int:
    try:
        words = path.read_text().split()
    except OSError:
        return 0
    return int(words[words.index(name) + 1]) if name in words else 0
