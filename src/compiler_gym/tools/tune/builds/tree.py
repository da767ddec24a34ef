# SPDX-License-Identifier: MIT
"""Copy the tree of a project without the objects that a build generates, and protect the project.

With its objects, ``make`` would not compile anything. Programs and archives are copied: they are
linked again because objects are newer, and some are data of the project's tests. Files under
version control are copied, too. Makefiles may contain absolute paths: if bubblewrap works, the
project is read-only while a command runs in the copy; otherwise changes are detected afterwards.
This is not a sandbox.
"""

import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from compiler_gym.builds import RELOCATABLE, is_archive, is_bitcode, is_elf
from compiler_gym.errors import ProjectError
from compiler_gym.files import hash_file
from compiler_gym.tools.tune.builds.configured import (
    adapt_configured,
    is_generated,
    require_sources_in,
)

_VERSIONS = {".git", ".hg", ".svn"}
_LEFT_OUT = {*_VERSIONS, "__pycache__", ".libs", ".deps"}
_LIBTOOL = {".lo", ".la"}
_OF_CARGO = ".rustc_info.json"
"""A file in the folder that cargo builds in."""
_X86_64 = 62
_HEADER_BYTES = 20
_SECONDS = 20.0


def copy_tree(source: Path, target: Path, *, leave_out: Iterable[Path] = ()) -> None:
    """Copy the folder `source` to `target`, which must not exist, without the objects of a build.

    Symlinks stay symlinks, but those that lead into `source` are redirected to the copy. Time
    stamps are preserved. `leave_out` are folders in `source` that are not copied. Files that CMake
    and Meson generate are not copied either, but their options are kept. Raises `ProjectError` if a
    file cannot be read, if the disk is full, and for a build directory of a project elsewhere.
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
    """Return the digest of every file that `copy_tree` copies, by path.

    Linked files and archives are skipped, because builds rewrite them. Raises `ProjectError` if a
    file cannot be read.
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
    """Return a stamp of every file in `source`, by path, which changes with every write."""
    outside = {os.path.realpath(path) for path in leave_out}
    stamps: dict[str, tuple[int, ...]] = {}
    for folder, folders, files in os.walk(source):
        folders[:] = [
            name
            for name in folders
            if name not in _VERSIONS and os.path.realpath(Path(folder, name)) not in outside
        ]
        for path in (Path(folder, name) for name in files):
            with suppress(OSError):
                st = path.lstat()
                stamps[os.path.relpath(path, source)] = (st.st_ino, st.st_size, st.st_ctime_ns)
    return stamps


def _files(source: Path, leave_out: Iterable[Path]) -> Iterator[Path]:
    """Yield every file and symlink that is copied."""
    rule = _rule(source, leave_out)
    for folder, folders, files in os.walk(source):
        excluded = rule(folder, [*folders, *files])
        links = [name for name in folders if Path(folder, name).is_symlink()]
        folders[:] = [name for name in folders if name not in excluded]
        yield from (Path(folder, name) for name in (*files, *links) if name not in excluded)


def _rule(source: Path, leave_out: Iterable[Path]) -> Callable[[str, list[str]], set[str]]:
    """Return a function from a folder of `source` and its names to those not to copy."""
    tracked = _list_tracked(source)
    excluded = {os.path.realpath(path) for path in leave_out}

    def ignore(folder: str, names: list[str]) -> set[str]:
        here = Path(folder)
        return {
            name
            for name in names
            if name in _LEFT_OUT
            or os.path.realpath(here / name) in excluded
            or (here / name not in tracked and _is_made(here / name))
            or (here / name not in tracked and is_generated(here / name))
            or not _is_copied(here / name)
            or (here / name / _OF_CARGO).is_file()
        }

    return ignore


def _is_copied(path: Path) -> bool:
    """Return whether `path` is a file, a folder or a symlink, not a socket or a pipe."""
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
    """Redirect a copied symlink into the copy, or to its old target outside `source`."""
    dest, folder = os.readlink(link), link.parent.relative_to(target)
    if not os.path.isabs(dest) and os.path.normpath(folder / dest).split(os.sep)[0] != os.pardir:
        return
    root = os.path.realpath(source)
    resolved = os.path.normpath(Path(root, folder, dest))
    parent, name = os.path.split(resolved)
    link.unlink()
    for path in (os.path.join(os.path.realpath(parent), name), os.path.realpath(resolved)):
        if Path(path).is_relative_to(root):
            copied = target / os.path.relpath(path, root)
            link.symlink_to(os.path.relpath(copied, link.parent))
            return
    link.symlink_to(resolved)


def _list_tracked(folder: Path) -> set[Path]:
    """Return the files that git tracks; empty without git."""
    if not shutil.which("git"):
        return set()
    result = subprocess.run(
        ["git", "-C", str(folder), "ls-files", "-z"], capture_output=True, check=False
    )
    return {folder / os.fsdecode(name) for name in result.stdout.split(b"\0") if name}


def _is_made(path: Path) -> bool:
    """Return whether `path` is an object for x86-64 or link-time optimisation, or one of
    libtool's files for an object."""
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
    """Return the system's message; if several files failed, that of the first."""
    failed: object = error.args[0] if error.args else ""
    if isinstance(error, shutil.Error) and isinstance(failed, list):
        return str(failed[0][-1])  # pyright: ignore[reportUnknownArgumentType]  # untyped in shutil
    return error.strerror or str(error)


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
