# SPDX-License-Identifier: MIT
"""Keep a build that runs in a copy from writing to the project itself, or tell that it did.

Makefiles name files by whole paths. Where bubblewrap can, the project cannot be written while a
command runs; where not, what changed is found afterwards. No box: nothing else is kept away.
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
    """Of one folder while commands run that should leave it alone."""

    folder: Path
    writable: tuple[Path, ...]
    """What may be written all the same, where it lies in the folder."""
    before: dict[str, tuple[int, ...]]
    """What every file was."""

    @classmethod
    def of(cls, folder: Path, writable: Iterable[Path]) -> "Protection":
        """Return the protection of `folder` as it is now."""
        homes = (os.environ.get("HOME", "/"), tempfile.gettempdir())
        kept = tuple(path.resolve() for path in (*writable, *map(Path, homes)))
        return cls(folder, kept, stamp_files(folder, leave_out=kept))

    def wrap(self, words: Sequence[str]) -> list[str]:
        """Return the command that runs `words` while the folder cannot be written, if one can."""
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
        """Return the files of the folder that are not what they were, less what we print to."""
        after = stamp_files(self.folder, leave_out=self.writable)
        names = self.before.keys() | after.keys()
        ours = {os.fstat(stream).st_ino for stream in (1, 2) if _is_open(stream)}
        changed = (name for name in names if self.before.get(name) != after.get(name))
        return sorted(name for name in changed if after.get(name, (0,))[0] not in ours)


def _is_open(stream: int) -> bool:
    try:
        os.fstat(stream)
    except OSError:
        return False
    return True


@cache
def _tool() -> str | None:
    """Return bubblewrap where it can make a folder unwritable."""
    found = shutil.which("bwrap")
    if found is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        words = [found, "--dev-bind", "/", "/", "--ro-bind", folder, folder, "--"]
        words += ["sh", "-c", ': > "$0/x"', folder]
        try:
            done = subprocess.run(words, capture_output=True, timeout=_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return None
        said = done.stderr.decode(errors="replace")
        return found if done.returncode and "Read-only file system" in said else None
