# SPDX-License-Identifier: MIT
"""Read untrusted tar and zip archives.

Only regular files are extracted: a link inside the archive becomes a copy. Names and links that
point outside the directory, devices, duplicate names and decompression bombs are rejected.
Permissions, owners and times are ignored.
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

from compiler_gym.datasets.fetching.download import as_dataset_errors
from compiler_gym.errors import DatasetInitError
from compiler_gym.options import ArchiveLimits


@dataclass(frozen=True, slots=True)
class Member:
    """An archive entry that is a regular file, or the reason why it is rejected."""

    name: str
    """The relative path; bytes that are not UTF-8 become lone surrogates."""
    size: int
    """The size in bytes according to the archive."""
    problem: str | None
    """The reason why the entry is rejected, or None."""
    copy_to: Callable[[IO[bytes]], None]
    """Writes the contents to a file; call it before you read the next entry."""
    link: str | None = None
    """The name of the entry that this one links to, or None."""


_DAMAGE = (EOFError, tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError)


def detect_compression(name: str) -> str:
    """Return the compression that the suffix of a file name indicates; empty if none.

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
    """Yield a reader of the decompressed bytes; raise `DatasetInitError` if they are damaged."""
    if compression not in _OPENERS:
        raise DatasetInitError(f"unknown compression {compression!r}: use bz2, gz, xz or zst")
    limit = (limits or ArchiveLimits()).limit_bytes(path.stat().st_size)
    with as_damage(path), _OPENERS[compression](path) as raw:
        yield io.BufferedReader(_Bounded(raw, limit, path), 1 << 17)


def read_archive(path: Path, *, limits: ArchiveLimits | None = None) -> Iterator[Member]:
    """Yield the files of a tar or zip archive, which its suffix distinguishes, in order."""
    bounds = limits or ArchiveLimits()
    if path.name.lower().endswith(".zip"):
        return _screen(_read_zip(path, bounds), path, bounds)
    return read_tar(path, detect_compression(path.name), limits=bounds)


def read_tar(
    path: Path, compression: str, *, limits: ArchiveLimits | None = None
) -> Iterator[Member]:
    """Yield the files of the tar archive `path`, in order."""
    bounds = limits or ArchiveLimits()
    return _screen(_read_tar(path, compression, bounds), path, bounds)


def unpack(
    path: Path,
    directory: Path,
    *,
    compression: str | None = None,
    strip_prefix: str = "",
    limits: ArchiveLimits | None = None,
) -> int:
    """Unpack the tar archive `path` into `directory` and return the number of files.

    Files whose name does not start with `strip_prefix` are skipped. Raises `DatasetInitError` if
    the archive is malicious or damaged; files written before that are not removed, so unpack into
    a temporary directory.
    """
    compression = detect_compression(path.name) if compression is None else compression
    prefix = f"{strip_prefix.strip('/')}/" if strip_prefix.strip("/") else ""
    links: list[tuple[str, str]] = []
    count = 0
    with as_dataset_errors(f"cannot unpack {path.name}"), as_damage(path):
        for member in read_tar(path, compression, limits=limits):
            if member.problem is not None:
                raise DatasetInitError(f"{path.name} was rejected: {member.problem}")
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
    """Convert the exceptions that readers raise on damaged archives to `DatasetInitError`."""
    try:
        yield
    except _DAMAGE as error:
        raise DatasetInitError(f"{path.name} is damaged or truncated: {error}") from error
    except OSError as error:
        # bz2, gzip and zstandard report damage as an OSError without an errno.
        if error.errno is not None or isinstance(error, DatasetInitError):
            raise
        raise DatasetInitError(f"{path.name} is damaged or truncated: {error}") from error


class _Bounded(io.RawIOBase):
    """A reader that raises an error after `limit` bytes, against decompression bombs."""

    def __init__(self, raw: Any, limit: int, path: Path) -> None:
        self._raw = raw
        self._limit = limit
        self._remaining = limit
        self._path = path

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read the next bytes into `buffer` and return their number."""
        data = self._raw.read(len(buffer))
        self._remaining -= len(data)
        if self._remaining < 0:
            raise DatasetInitError(
                f"{self._path.name} was rejected: it unpacks to more than {self._limit} bytes"
            )
        buffer[: len(data)] = data
        return len(data)


def _screen(members: Iterator[Member], path: Path, limits: ArchiveLimits) -> Iterator[Member]:
    seen: set[str] = set()
    with as_damage(path):
        for number, member in enumerate(members, start=1):
            if number > limits.max_files:
                raise DatasetInitError(
                    f"{path.name} was rejected: it has more than {limits.max_files} entries"
                )
            if member.problem is None and member.name in seen:
                problem = f"two files are named {printable(member.name)}"
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
            # tarfile would otherwise keep a record of every entry in memory.
            tar.members.clear()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType] - not in typeshed
            if not info.isdir():
                yield _tar_member(tar, info, budget)


class _StrictHeader(tarfile.TarInfo):
    """A strictly checked header: tarfile takes a damaged one for the end of the archive."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> "_StrictHeader":
        """Return the header in `buf`; raise `ReadError` if it is neither valid nor an end mark."""
        try:
            return super().frombuf(buf, encoding, errors)
        except tarfile.EOFHeaderError:  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType] - as above
            raise
        except tarfile.HeaderError as error:
            reason = "its end mark is missing" if len(buf) == 0 else str(error)
            raise tarfile.ReadError(reason) from error


def _tar_member(tar: tarfile.TarFile, info: tarfile.TarInfo, budget: int) -> Member:
    name, problem = _safe_name(info.name)
    shown = printable(info.name)
    link = None
    if info.islnk() or info.issym():
        folder = posixpath.dirname(info.name) if info.issym() else ""
        link, link_problem = _safe_name(posixpath.normpath(posixpath.join(folder, info.linkname)))
        if link_problem:
            problem = f"{shown} is a link to {printable(info.linkname)}, outside the archive"
    elif not info.isfile():
        problem = f"{shown} is not a regular file"
    elif info.size > budget:
        # A sparse file has a larger size than its data in the archive.
        problem = f"{shown} is too large: {info.size} bytes"

    def copy_to(target: IO[bytes]) -> None:
        source = tar.extractfile(info)
        assert source is not None
        shutil.copyfileobj(source, target)

    return Member(name, info.size, problem, copy_to, link)


def _read_zip(path: Path, limits: ArchiveLimits) -> Iterator[Member]:
    remaining = limits.limit_bytes(path.stat().st_size)
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            if info.is_dir():
                continue
            remaining -= info.file_size
            if remaining < 0:
                raise DatasetInitError(f"{path.name} was rejected: it unpacks to too many bytes")
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
        return name, f"{printable(name)} points outside its directory"
    return "/".join(parts), None


def _write_member(member: Member, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        member.copy_to(file)


def _copy_link(path: Path, target: Path) -> int:
    # Links are never created. Chains of links and links to directories are skipped.
    if not target.is_file():
        return 0
    path.parent.mkdir(parents=True, exist_ok=True)
    with target.open("rb") as source, path.open("xb") as file:
        shutil.copyfileobj(source, file)
    return 1


def printable(name: str) -> str:
    """Return `name` in quotes, with lone surrogates and control characters escaped."""
    return ascii(name) if not name.isprintable() else f"'{name}'"


@contextmanager
def _open_zst(path: Path) -> Generator[io.BufferedIOBase]:
    """Open a Zstandard file; raise `OSError` on damage, as the other readers do."""
    from compiler_gym.datasets.fetching import zstd

    # The window is bounded so that a small file cannot allocate gigabytes.
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
