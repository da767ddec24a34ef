# SPDX-License-Identifier: MIT
"""Copy the tree of a project, less the objects that a build makes again.

They would keep ``make`` from compiling anything. Programs and archives stay: where objects are
newer they are linked again, and some are data of the project's tests. What its version control
knows stays too.
"""

import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from compiler_gym.builds import RELOCATABLE, is_archive, is_bitcode, is_elf
from compiler_gym.errors import ProjectError
from compiler_gym.files import hash_file
from compiler_gym.tools.tune.builds.configured import (
    adapt_configured,
    is_generated,
    require_sources_in,
)

__all__ = ["copy_tree", "digest_files", "stamp_files"]

_VERSIONS = {".git", ".hg", ".svn"}
_LEFT_OUT = {*_VERSIONS, "__pycache__", ".libs", ".deps"}
_LIBTOOL = {".lo", ".la"}
_X86_64 = 62
_HEADER_BYTES = 20


def copy_tree(source: Path, target: Path, *, leave_out: Iterable[Path] = ()) -> None:
    """Copy the folder `source` to `target`, which must not exist, less the objects of a build.

    Links stay links, but none leads from the copy into `source`: what names a place there, by its
    whole path or by a way around, names that of the copy. Times stay as they are. `leave_out` are
    folders in `source` that are not copied. What CMake and Meson generate is left out, too, and
    the options they were given are kept. Raises `ProjectError` when a file cannot be read or there
    is no room, and for a build directory whose project lies elsewhere.
    """
    require_sources_in(source)
    try:
        shutil.copytree(source, target, symlinks=True, ignore=_rule(source, leave_out))
        for link in _links_in(target):
            _keep_inside(link, source, target)
        adapt_configured(source, target)
    except (OSError, shutil.Error) as error:
        shutil.rmtree(target, ignore_errors=True)
        raise ProjectError(f"cannot copy {source} to {target}: {_reason(error)}") from error


def digest_files(source: Path, *, leave_out: Iterable[Path] = ()) -> dict[str, str]:
    """Return what names the contents of every file that `copy_tree` takes, by its path.

    What a linker or an archiver made is passed over: it may come and go. Raises `ProjectError`
    when a file cannot be read.
    """
    try:
        return {
            os.path.relpath(path, source): _digest(path)
            for path in _files(source, leave_out)
            if path.is_symlink() or not (is_elf(path) or is_archive(path))
        }
    except OSError as error:
        raise ProjectError(f"cannot read {source}: {_reason(error)}") from error


def stamp_files(source: Path, *, leave_out: Iterable[Path] = ()) -> dict[str, tuple[int, ...]]:
    """Return what changes of every file in `source` when anybody writes to it, by its path."""
    outside = {os.path.realpath(path) for path in leave_out}
    found: dict[str, tuple[int, ...]] = {}
    for folder, folders, files in os.walk(source):
        folders[:] = [
            name
            for name in folders
            if name not in _VERSIONS and os.path.realpath(Path(folder, name)) not in outside
        ]
        for path in (Path(folder, name) for name in files):
            with suppress(OSError):
                now = path.lstat()
                found[os.path.relpath(path, source)] = (now.st_ino, now.st_size, now.st_ctime_ns)
    return found


def _files(source: Path, leave_out: Iterable[Path]) -> Iterator[Path]:
    """Yield every file and link that is copied."""
    ignored = _rule(source, leave_out)
    for folder, folders, files in os.walk(source):
        left_out = ignored(folder, [*folders, *files])
        links = [name for name in folders if Path(folder, name).is_symlink()]
        folders[:] = [name for name in folders if name not in left_out]
        yield from (Path(folder, name) for name in (*files, *links) if name not in left_out)


def _rule(source: Path, leave_out: Iterable[Path]) -> Callable[[str, list[str]], set[str]]:
    """Return what tells which names in a folder of `source` are not copied."""
    tracked = _list_tracked(source)
    outside = {os.path.realpath(path) for path in leave_out}

    def ignore(folder: str, names: list[str]) -> set[str]:
        here = Path(folder)
        return {
            name
            for name in names
            if name in _LEFT_OUT
            or os.path.realpath(here / name) in outside
            or (here / name not in tracked and _is_made(here / name))
            or (here / name not in tracked and is_generated(here / name))
            or not _is_copied(here / name)
        }

    return ignore


def _is_copied(path: Path) -> bool:
    """Return whether `path` is a file, a folder or a link: sockets and pipes are of a process."""
    mode = path.lstat().st_mode
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)


def _digest(path: Path) -> str:
    if path.is_symlink():
        return f"-> {os.readlink(path)}"
    return hash_file(path)


def _links_in(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            if (path := Path(parent, name)).is_symlink():
                yield path


def _keep_inside(link: Path, source: Path, target: Path) -> None:
    """Let a copied link lead to the place of the copy that it led to, or where it led outside."""
    told, folder = os.readlink(link), link.parent.relative_to(target)
    if not os.path.isabs(told) and os.path.normpath(folder / told).split(os.sep)[0] != os.pardir:
        return
    root = os.path.realpath(source)
    named = os.path.normpath(Path(root, folder, told))
    parent, name = os.path.split(named)
    link.unlink()
    for found in (os.path.join(os.path.realpath(parent), name), os.path.realpath(named)):
        if Path(found).is_relative_to(root):
            place = target / os.path.relpath(found, root)
            link.symlink_to(os.path.relpath(place, link.parent))
            return
    link.symlink_to(named)


def _list_tracked(folder: Path) -> set[Path]:
    """Return the files that git keeps; none where there is no git."""
    if not shutil.which("git"):
        return set()
    done = subprocess.run(
        ["git", "-C", str(folder), "ls-files", "-z"], capture_output=True, check=False
    )
    return {folder / os.fsdecode(name) for name in done.stdout.split(b"\0") if name}


def _is_made(path: Path) -> bool:
    """Return whether `path` is an object of this machine or of link-time optimisation, or what
    libtool writes beside one."""
    if path.is_symlink() or not path.is_file():
        return False
    if path.suffix in _LIBTOOL:
        return True
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
    except OSError:
        return False
    if path.suffix == ".o" and is_bitcode(header):
        return True
    machine = int.from_bytes(header[18:20], "little")
    return is_elf(path, RELOCATABLE) and header[5:6] == b"\1" and machine == _X86_64


def _reason(error: OSError | shutil.Error) -> str:
    """Return what the system says: of several files that failed, for the first."""
    failed: object = error.args[0] if error.args else ""
    if isinstance(error, shutil.Error) and isinstance(failed, list):
        return str(failed[0][-1])  # pyright: ignore[reportUnknownArgumentType]  # untyped in shutil
    return error.strerror or str(error)
