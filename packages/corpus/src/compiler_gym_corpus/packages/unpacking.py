# SPDX-License-Identifier: MIT
"""Unpack archives of untrusted packages into a system's tree without ever writing outside.

Links in the tree are resolved as a process inside would resolve them: absolute ones start at the
tree's root. Setuid bits are dropped, and devices are rejected.
"""

import errno
import os
import shutil
import stat
import subprocess
import tarfile
from collections import deque
from pathlib import Path, PurePosixPath

from compiler_gym.errors import DatasetInitError

__all__ = ["RefusedArchive", "place_in", "unpack_member", "unpack_package", "write_in"]

_MOST_LINKS = 40
_PERMISSIONS = 0o777
_OWNER = 0o600
_FULL = (errno.ENOSPC, errno.EDQUOT)


class RefusedArchive(DatasetInitError):
    """A package is damaged, or would write outside its tree."""


def unpack_package(archive: Path, tree: Path) -> None:
    """Unpack the files of a ``.deb`` into `tree`, replacing existing files.

    Raises `RefusedArchive` if the archive is damaged or a member is outside the tree, and
    `DatasetInitError` if the disk is full.
    """
    command = ["dpkg-deb", "--fsys-tarfile", str(archive)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        try:
            with tarfile.open(fileobj=process.stdout, mode="r|") as packed:
                for member in packed:
                    unpack_member(packed, member, tree)
            while process.stdout.read(1 << 16):  # trailing padding: otherwise dpkg-deb fails
                pass
        except (OSError, EOFError, OverflowError, ValueError, tarfile.TarError) as error:
            process.kill()
            is_full = isinstance(error, OSError) and error.errno in _FULL
            kind = DatasetInitError if is_full else RefusedArchive
            raise kind(f"cannot unpack {archive.name}: {error}") from error
    if process.returncode:
        raise RefusedArchive(f"cannot unpack {archive.name}: dpkg-deb cannot read it")


def place_in(tree: Path, path: str | PurePosixPath) -> Path:
    """Return the path on this machine of `path` in the system `tree`.

    A link in the last component is not followed. Raises `RefusedArchive` if the path leaves the
    tree or its links are circular.
    """
    parts = [part for part in PurePosixPath(path).parts if part != "/"]
    if ".." in parts:
        raise RefusedArchive(f"{str(path)!r:.200} points outside its tree; remove the package")
    if not parts:
        return tree
    links, resolved, pending = 0, list[str](), deque(parts[:-1])
    while pending:
        part = pending.popleft()
        current = tree.joinpath(*resolved, part)
        if part == "/":
            resolved.clear()
        elif part == "..":
            del resolved[-1:]
        elif current.is_symlink():
            links += 1
            if links > _MOST_LINKS:
                raise RefusedArchive(f"{str(path)!r:.200} contains circular links")
            pending.extendleft(reversed(PurePosixPath(current.readlink()).parts))
        else:
            resolved.append(part)
    return tree.joinpath(*resolved, parts[-1])


def write_in(tree: Path, path: str, text: str) -> None:
    """Write a file in the system `tree`, replacing an existing file or link."""
    target = place_in(tree, path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    target.write_text(text)


def unpack_member(
    packed: tarfile.TarFile, member: tarfile.TarInfo, tree: Path, *, links_out: bool = True
) -> None:
    """Unpack one member of an archive that is read sequentially.

    Raises `RefusedArchive` if it is outside the tree, and, without `links_out`, if it is a
    symbolic link that points outside.
    """
    path = place_in(tree, member.name)
    if path == tree:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if member.isdir():
        if path.is_symlink():  # /bin stays a link
            path = place_in(tree, PurePosixPath(member.name) / "within").parent
        path.mkdir(parents=True, exist_ok=True)
        return
    # Other trees share the file through hard links: replace it, never write to it.
    path.unlink(missing_ok=True)
    if member.isreg():
        contents = packed.extractfile(member)
        assert contents is not None
        with path.open("xb") as file:
            shutil.copyfileobj(contents, file)
            os.fchmod(file.fileno(), member.mode & _PERMISSIONS | _OWNER)
        os.utime(path, (member.mtime, member.mtime))
    elif member.issym():
        target = os.path.normpath(PurePosixPath(member.name).parent / member.linkname)
        if not links_out and (target.startswith("/") or target.split("/")[0] == ".."):
            raise RefusedArchive(f"{member.name!r:.200} is a link that points outside its tree")
        path.symlink_to(member.linkname)
    elif member.islnk() and _is_file(other := place_in(tree, member.linkname)):
        os.link(other, path, follow_symlinks=False)
    else:
        raise RefusedArchive(f"{member.name!r:.200} is not a file, a folder or a link to one")


def _is_file(path: Path) -> bool:
    return stat.S_ISREG(path.lstat().st_mode)
