# SPDX-License-Identifier: MIT
"""Copy the tree of a project, less what a build can make again.

Objects and linked files that are in the way would keep ``make`` from building anything. Those
that the project's version control knows are part of the project and stay.
"""

import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from compiler_gym.builds.archives import is_archive
from compiler_gym.builds.elf import is_elf
from compiler_gym.errors import ProjectError

__all__ = ["copy_tree"]

_LEFT_OUT = {".git", ".hg", ".svn", "__pycache__", ".libs", ".deps"}
_MADE = {".o", ".lo", ".la", ".a", ".so", ".obj", ".d"}


def copy_tree(source: Path, target: Path, *, leave_out: Iterable[Path] = ()) -> None:
    """Copy the folder `source` to `target`, which must not exist, less what a build made.

    Links stay links, times stay as they are. `leave_out` are folders in `source` that are
    not copied. Raises `ProjectError` when a file cannot be read or there is no room.
    """
    tracked = _tracked(source)
    outside = {path.resolve() for path in leave_out}

    def ignored(folder: str, names: list[str]) -> set[str]:
        here = Path(folder)
        return {
            name
            for name in names
            if name in _LEFT_OUT
            or (here / name).resolve() in outside
            or (here / name not in tracked and _is_made(here / name))
        }

    try:
        shutil.copytree(source, target, symlinks=True, ignore=ignored)
    except (OSError, shutil.Error) as error:
        shutil.rmtree(target, ignore_errors=True)
        raise ProjectError(f"cannot copy {source} to {target}: {_reason(error)}") from error


def _tracked(folder: Path) -> set[Path]:
    """Return the files that git keeps; none where there is no git."""
    if not shutil.which("git"):
        return set()
    done = subprocess.run(
        ["git", "-C", str(folder), "ls-files", "-z"], capture_output=True, check=False
    )
    return {folder / os.fsdecode(name) for name in done.stdout.split(b"\0") if name}


def _is_made(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    return (path.suffix in _MADE and _is_leftover(path)) or is_elf(path) or is_archive(path)


def _is_leftover(path: Path) -> bool:
    """Return whether a source of the same name lies beside: then a build can make it again."""
    return any(
        path.with_suffix(suffix).exists() for suffix in (".c", ".cc", ".cpp", ".cxx", ".C")
    ) or path.suffix in (".la", ".lo")


def _reason(error: OSError | shutil.Error) -> str:
    """Return what the system says: of several files that failed, for the first."""
    failed: object = error.args[0] if error.args else ""
    if isinstance(error, shutil.Error) and isinstance(failed, list):
        return str(failed[0][-1])  # pyright: ignore[reportUnknownArgumentType]  # untyped in shutil
    return error.strerror or str(error)
