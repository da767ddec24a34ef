# SPDX-License-Identifier: MIT
"""Unpack archives of untrusted packages into the tree of a system, and nowhere else.

Links in the tree are followed as a process inside it would follow them, so an absolute one leads
to the tree's own folder. Programs get no special rights, and a device is refused.
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
    """A package that is damaged, or would write outside its tree."""


def unpack_package(archive: Path, tree: Path) -> None:
    """Unpack the files of a ``.deb``, over those that are in `tree`.

    Raises `RefusedArchive` where the archive is damaged, or a member would leave the tree, and
    `DatasetInitError` where the disk is full.
    """
    words = ["dpkg-deb", "--fsys-tarfile", str(archive)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        try:
            with tarfile.open(fileobj=process.stdout, mode="r|") as packed:
                for member in packed:
                    unpack_member(packed, member, tree)
            while process.stdout.read(1 << 16):  # blocks of zeros, which the command writes out
                pass
        except (OSError, EOFError, OverflowError, ValueError, tarfile.TarError) as error:
            process.kill()
            is_full = isinstance(error, OSError) and error.errno in _FULL
            kind = DatasetInitError if is_full else RefusedArchive
            raise kind(f"cannot unpack {archive.name}: {error}") from error
    if process.returncode:
        raise RefusedArchive(f"cannot unpack {archive.name}: dpkg-deb cannot read it")


def place_in(tree: Path, path: str | PurePosixPath) -> Path:
    """Return where `path` of the system `tree` lies; a link at its end is not followed.

    Raises `RefusedArchive` where it leaves the tree, and `OSError` for a circle of links.
    """
    parts = [part for part in PurePosixPath(path).parts if part != "/"]
    if ".." in parts:
        raise RefusedArchive(f"{str(path)!r:.200} leads out of its tree: remove the package")
    if not parts:
        return tree
    links, walked, left = 0, list[str](), deque(parts[:-1])
    while left:
        part = left.popleft()
        here = tree.joinpath(*walked, part)
        if part == "/":
            walked.clear()
        elif part == "..":
            del walked[-1:]
        elif here.is_symlink():
            links += 1
            if links > _MOST_LINKS:
                raise RefusedArchive(f"{str(path)!r:.200} leads through a circle of links")
            left.extendleft(reversed(PurePosixPath(here.readlink()).parts))
        else:
            walked.append(part)
    return tree.joinpath(*walked, parts[-1])


def write_in(tree: Path, path: str, text: str) -> None:
    """Write a file of the system `tree` in place of the file or the link that is there."""
    place = place_in(tree, path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    place.write_text(text)


def unpack_member(
    packed: tarfile.TarFile, member: tarfile.TarInfo, tree: Path, *, links_out: bool = True
) -> None:
    """Unpack one member of an archive that is read in order.

    Raises `RefusedArchive` where it would leave the tree, and, without `links_out`, for a symbolic
    link to a place outside.
    """
    place = place_in(tree, member.name)
    if place == tree:
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    if member.isdir():
        if place.is_symlink():  # /bin stays a link
            place = place_in(tree, PurePosixPath(member.name) / "within").parent
        place.mkdir(parents=True, exist_ok=True)
        return
    # Hard links of other trees lead to what is there: it is replaced, never written to.
    place.unlink(missing_ok=True)
    if member.isreg():
        contents = packed.extractfile(member)
        assert contents is not None
        with place.open("xb") as file:
            shutil.copyfileobj(contents, file)
            os.fchmod(file.fileno(), member.mode & _PERMISSIONS | _OWNER)
        os.utime(place, (member.mtime, member.mtime))
    elif member.issym():
        end = os.path.normpath(PurePosixPath(member.name).parent / member.linkname)
        if not links_out and (end.startswith("/") or end.split("/")[0] == ".."):
            raise RefusedArchive(f"{member.name!r:.200} is a link that leads out of its tree")
        place.symlink_to(member.linkname)
    elif member.islnk() and _is_file(other := place_in(tree, member.linkname)):
        os.link(other, place, follow_symlinks=False)
    else:
        raise RefusedArchive(f"{member.name!r:.200} is not a file, a folder or a link to one")


def _is_file(path: Path) -> bool:
    return stat.S_ISREG(path.lstat().st_mode)
