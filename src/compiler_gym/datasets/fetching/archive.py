# SPDX-License-Identifier: MIT
"""Read tar and zip archives that nobody vouches for.

Only regular files come out: a link inside the archive becomes a copy. A name or
a link that would leave the directory, a device, a second file of the same name
and an archive that unpacks to far more than it holds are refused. No permission,
owner or time is taken over.
"""

import bz2
import gzip
import io
import lzma
import posixpath
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from compiler_gym.datasets.fetching.install import as_dataset_errors
from compiler_gym.errors import DatasetInitError
from compiler_gym.options import ArchiveLimits

__all__ = ["ArchiveLimits", "Member", "open_compressed", "read_archive", "unpack"]


@dataclass(frozen=True, slots=True)
class Member:
    """One entry of an archive that is a regular file, or why it cannot be used."""

    name: str
    """The relative name; bytes that are not UTF-8 are lone surrogates."""
    size: int
    """The number of bytes that the archive announces."""
    problem: str | None
    """Why the entry is refused, or None."""
    copy_to: Callable[[IO[bytes]], None]
    """Writes the contents; to be called before the next entry is drawn."""
    link: str | None = None
    """The name of another entry that this one stands for, instead of contents."""


_DAMAGE = (EOFError, tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError)


def detect_compression(name: str) -> str:
    """Return the compression that a file name announces; empty if none.

    >>> detect_compression("a.tar.bz2"), detect_compression("a.tgz"), detect_compression("a.tar")
    ('bz2', 'gz', '')
    """
    ending = name.lower().rpartition(".")[2]
    short = {"tgz": "gz", "tbz": "bz2", "tbz2": "bz2", "txz": "xz", "tzst": "zst", "zstd": "zst"}
    ending = short.get(ending, ending)
    return ending if ending in {"bz2", "gz", "xz", "zst"} else ""


@contextmanager
def open_compressed(
    path: Path, compression: str, *, limits: ArchiveLimits | None = None
) -> Generator[IO[bytes]]:
    """Yield a reader of the decompressed bytes; raise `DatasetInitError` when damaged."""
    if compression not in _OPENERS:
        raise DatasetInitError(f"unknown compression {compression!r}: expected bz2, gz, xz or zst")
    limit = (limits or ArchiveLimits()).limit_bytes(path.stat().st_size)
    with as_damage(path), _OPENERS[compression](path) as raw:
        yield io.BufferedReader(_Bounded(raw, limit, path), 1 << 17)


def read_archive(path: Path, *, limits: ArchiveLimits | None = None) -> Iterator[Member]:
    """Yield the files of a tar or zip archive, which its name tells apart, in its order."""
    chosen = limits or ArchiveLimits()
    if path.name.lower().endswith(".zip"):
        return _screen(_read_zip(path, chosen), path, chosen)
    return read_tar(path, detect_compression(path.name), limits=chosen)


def read_tar(
    path: Path, compression: str, *, limits: ArchiveLimits | None = None
) -> Iterator[Member]:
    """Yield the files of the tar archive `path` in its order."""
    chosen = limits or ArchiveLimits()
    return _screen(_read_tar(path, compression, chosen), path, chosen)


def unpack(
    path: Path,
    directory: Path,
    *,
    compression: str | None = None,
    strip_prefix: str = "",
    limits: ArchiveLimits | None = None,
) -> int:
    """Unpack the tar archive `path` into `directory` and return the number of files.

    Files whose name does not start with `strip_prefix` are left out. A hostile
    or damaged archive raises `DatasetInitError`; what was written by then stays,
    so unpack into a directory that is thrown away.
    """
    chosen = detect_compression(path.name) if compression is None else compression
    prefix = f"{strip_prefix.strip('/')}/" if strip_prefix.strip("/") else ""
    links: list[tuple[str, str]] = []
    count = 0
    with as_dataset_errors(f"cannot unpack {path.name}"), as_damage(path):
        for member in read_tar(path, chosen, limits=limits):
            if member.problem is not None:
                raise DatasetInitError(f"{path.name} is refused: {member.problem}")
            if not member.name.startswith(prefix):
                continue
            if member.link is not None:
                links.append((member.name[len(prefix) :], member.link.removeprefix(prefix)))
            else:
                _write_member(member, directory / member.name[len(prefix) :])
                count += 1
        return count + sum(_copy_link(directory / name, directory / to) for name, to in links)


@contextmanager
def as_damage(path: Path) -> Generator[None]:
    """Turn what readers raise on damaged archives into `DatasetInitError`."""
    try:
        yield
    except _DAMAGE as error:
        raise DatasetInitError(f"{path.name} is damaged or truncated: {error}") from error
    except OSError as error:
        # bz2, gzip and zstandard report damage as an OSError without a number.
        if error.errno is not None or isinstance(error, DatasetInitError):
            raise
        raise DatasetInitError(f"{path.name} is damaged or truncated: {error}") from error


class _Bounded(io.RawIOBase):
    """A reader that gives up when more comes out than a sane archive holds."""

    def __init__(self, raw: Any, limit: int, path: Path) -> None:
        self._raw = raw
        self._limit = limit
        self._left = limit
        self._path = path

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill `buffer` with what comes next and return how much that was."""
        data = self._raw.read(len(buffer))
        self._left -= len(data)
        if self._left < 0:
            raise DatasetInitError(
                f"{self._path.name} is refused: it unpacks to more than {self._limit} bytes"
            )
        buffer[: len(data)] = data
        return len(data)


def _screen(members: Iterator[Member], path: Path, limits: ArchiveLimits) -> Iterator[Member]:
    seen: set[str] = set()
    with as_damage(path):
        for number, member in enumerate(members, start=1):
            if number > limits.max_files:
                raise DatasetInitError(
                    f"{path.name} is refused: it has more than {limits.max_files} entries"
                )
            if member.problem is None and member.name in seen:
                problem = f"two files are called {printable(member.name)}"
                member = replace(member, problem=problem)
            seen.add(member.name)
            yield member


def _read_tar(path: Path, compression: str, limits: ArchiveLimits) -> Iterator[Member]:
    with (
        open_compressed(path, compression, limits=limits) as raw,
        tarfile.open(
            fileobj=raw,
            mode="r|",
            encoding="utf-8",
            errors="surrogateescape",
            tarinfo=_StrictHeader,
        ) as tar,
    ):
        budget = limits.limit_bytes(path.stat().st_size)
        while (info := tar.next()) is not None:
            # The reader would otherwise keep a record of every entry.
            tar.members.clear()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType] - not in typeshed
            if not info.isdir():
                yield _tar_member(tar, info, budget)


class _StrictHeader(tarfile.TarInfo):
    """A header that must be whole: the reader takes a damaged one for the end of the archive."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> "_StrictHeader":
        """Return the header in `buf`; raise `ReadError` unless it is one, or the end mark."""
        try:
            return super().frombuf(buf, encoding, errors)
        except tarfile.EOFHeaderError:  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType] - as above
            raise
        except tarfile.HeaderError as error:
            found = "its end mark is missing" if len(buf) == 0 else str(error)
            raise tarfile.ReadError(found) from error


def _tar_member(tar: tarfile.TarFile, info: tarfile.TarInfo, budget: int) -> Member:
    name, problem = _safe_name(info.name)
    shown = printable(info.name)
    link = None
    if info.islnk() or info.issym():
        folder = posixpath.dirname(info.name) if info.issym() else ""
        link, leaves = _safe_name(posixpath.normpath(posixpath.join(folder, info.linkname)))
        if leaves:
            problem = f"{shown} is a link to {printable(info.linkname)}, outside the archive"
    elif not info.isfile():
        problem = f"{shown} is not a regular file"
    elif info.size > budget:
        # A sparse file announces bytes that the archive does not hold.
        problem = f"{shown} announces {info.size} bytes"

    def copy_to(target: IO[bytes]) -> None:
        source = tar.extractfile(info)
        assert source is not None
        shutil.copyfileobj(source, target)

    return Member(name, info.size, problem, copy_to, link)


def _read_zip(path: Path, limits: ArchiveLimits) -> Iterator[Member]:
    left = limits.limit_bytes(path.stat().st_size)
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            if info.is_dir():
                continue
            left -= info.file_size
            if left < 0:
                raise DatasetInitError(f"{path.name} is refused: it unpacks to too many bytes")
            yield _zip_member(archive, info)


def _zip_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Member:
    name, problem = _safe_name(info.filename)
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        problem = f"{printable(info.filename)} is not a regular file"
    elif info.flag_bits & 1:
        problem = f"{printable(info.filename)} is encrypted"

    def copy_to(target: IO[bytes]) -> None:
        with archive.open(info) as source:
            shutil.copyfileobj(source, target)

    return Member(name, info.file_size, problem, copy_to)


def _safe_name(name: str) -> tuple[str, str | None]:
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts or "\0" in name or not parts:
        return name, f"{printable(name)} would leave its directory"
    return "/".join(parts), None


def _write_member(member: Member, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        member.copy_to(file)


def _copy_link(path: Path, target: Path) -> int:
    # Links are never created. A chain of links, or one to a directory, is left out.
    if not target.is_file():
        return 0
    path.parent.mkdir(parents=True, exist_ok=True)
    with target.open("rb") as source, path.open("xb") as file:
        shutil.copyfileobj(source, file)
    return 1


def printable(name: str) -> str:
    """Return `name` without lone surrogates and control characters, in quotes."""
    return ascii(name) if not name.isprintable() else f"'{name}'"


@contextmanager
def _open_zst(path: Path) -> Generator[io.BufferedIOBase]:
    """Open Zstandard, with complaints that look like those of the other readers."""
    from compiler_gym.datasets.fetching import zstd

    # The window is bounded so that a small file cannot ask for gigabytes.
    options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: 27}
    try:
        with zstd.ZstdFile(path, options=options) as file:
            yield file
    except zstd.ZstdError as error:
        raise OSError(str(error)) from error


_OPENERS: dict[str, Callable[[Path], Any]] = {
    "": lambda path: path.open("rb"),
    "bz2": bz2.open,
    "gz": gzip.open,
    "xz": lzma.open,
    "zst": _open_zst,
}
