# SPDX-License-Identifier: MIT
"""Copy the tree of a project, less the objects that a build makes again.

They would keep ``make`` from compiling anything. Programs and archives stay: where objects are
newer they are linked again, and some are data of the project's tests. What its version control
knows stays too.
"""

import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from compiler_gym.builds.elf import RELOCATABLE, is_elf
from compiler_gym.errors import ProjectError

__all__ = ["copy_tree"]

_LEFT_OUT = {".git", ".hg", ".svn", "__pycache__", ".libs", ".deps"}
_LIBTOOL = {".lo", ".la"}
_X86_64 = 62
_HEADER_BYTES = 20


def copy_tree(source: Path, target: Path, *, leave_out: Iterable[Path] = ()) -> None:
    """Copy the folder `source` to `target`, which must not exist, less the objects of a build.

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
    """Return whether `path` is an object of this machine, or what libtool writes beside one."""
    if path.is_symlink() or not path.is_file():
        return False
    if path.suffix in _LIBTOOL:
        return True
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
    except OSError:
        return False
    machine = int.from_bytes(header[18:20], "little")
    return is_elf(path, RELOCATABLE) and header[5:6] == b"\1" and machine == _X86_64


def _reason(error: OSError | shutil.Error) -> str:
    """Return what the system says: of several files that failed, for the first."""
    failed: object = error.args[0] if error.args else ""
    if isinstance(error, shutil.Error) and isinstance(failed, list):
        return str(failed[0][-1])  # pyright: ignore[reportUnknownArgumentType]  # untyped in shutil
    return error.strerror or str(error)
