# SPDX-License-Identifier: MIT
"""Prevent a build in a copy from writing to the project itself, or report that it did.

Makefiles may contain absolute paths. If bubblewrap works, the project is read-only while a command
runs; otherwise changes are detected afterwards. This is not a sandbox.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from compiler_gym.tools.tune.builds.tree import stamp_files

__all__ = ["Protection"]

_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Protection:
    """The protection of one folder while commands run that must not change it."""

    folder: Path
    writable: tuple[Path, ...]
    """Paths that stay writable, even inside the folder."""
    before: dict[str, tuple[int, ...]]
    """The stamps of all files before."""

    @classmethod
    def of(cls, folder: Path, writable: Iterable[Path]) -> "Protection":
        """Return the protection of `folder` in its current state."""
        homes = (os.environ.get("HOME", "/"), tempfile.gettempdir())
        paths = tuple(path.resolve() for path in (*writable, *map(Path, homes)))
        return cls(folder, paths, stamp_files(folder, leave_out=paths))

    def wrap(self, words: Sequence[str]) -> list[str]:
        """Return a command that runs `words` with the folder read-only, if that is possible."""
        folder = self.folder.resolve()
        tool = _tool()
        if tool is None or folder in (*self.writable, Path("/")):
            return list(words)
        binds = ["--dev-bind", "/", "/", "--ro-bind", str(folder), str(folder)]
        for path in self.writable:
            if path.is_relative_to(folder) and path.exists():
                binds += ["--bind", str(path), str(path)]
        return [tool, *binds, "--", *words]

    def list_changed(self) -> list[str]:
        """Return the changed files of the folder, except those that we print to."""
        after = stamp_files(self.folder, leave_out=self.writable)
        names = self.before.keys() | after.keys()
        printed = {os.fstat(stream).st_ino for stream in (1, 2) if _is_open(stream)}
        changed = (name for name in names if self.before.get(name) != after.get(name))
        return sorted(name for name in changed if after.get(name, (0,))[0] not in printed)


def _is_open(stream: int) -> bool:
    try:
        os.fstat(stream)
    except OSError:
        return False
    return True


@cache
def _tool() -> str | None:
    """Return the path of bubblewrap, if it can make a folder read-only."""
    tool = shutil.which("bwrap")
    if tool is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        words = [tool, "--dev-bind", "/", "/", "--ro-bind", folder, folder, "--"]
        words += ["sh", "-c", ': > "$0/x"', folder]
        try:
            result = subprocess.run(words, capture_output=True, timeout=_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return None
        message = result.stderr.decode(errors="replace")
        return tool if result.returncode and "Read-only file system" in message else None
