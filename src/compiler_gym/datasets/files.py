# SPDX-License-Identifier: MIT
"""Datasets of files, one program per file: in a directory, or published as an archive.

The name of a program is the path of its file below the directory, without the common suffix.
Files outside the directory are not served. An archive is downloaded and unpacked on first use, and
the directory of an installed dataset appears atomically, when it is complete.
"""

import itertools
import json
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from shutil import rmtree
from typing import Any
from urllib.parse import urlsplit

from compiler_gym.datasets.benchmark import Benchmark
from compiler_gym.datasets.dataset import Dataset
from compiler_gym.datasets.fetching.archive import ArchiveLimits, open_compressed, printable, unpack
from compiler_gym.datasets.fetching.download import (
    DownloadOptions,
    as_dataset_errors,
    download_file,
    hold,
)
from compiler_gym.datasets.uri import BenchmarkUri, quote_path
from compiler_gym.errors import DatasetInitError, DownloadFailed, UnknownNameError
from compiler_gym.errors.nearest import did_you_mean
from compiler_gym.files import replace_directory

_SUGGEST_UP_TO = 10_000


class FilesDataset(Dataset):
    """Every file below `dataset_root` whose name ends in `benchmark_file_suffix`.

    >>> import tempfile
    >>> root = Path(tempfile.mkdtemp())
    >>> _ = (root / "b.txt").write_bytes(b"2"), (root / "a.txt").write_bytes(b"1")
    >>> dataset = FilesDataset(root, ".txt", name="demo-v0")
    >>> [str(uri) for uri in dataset.benchmark_uris()], dataset.size
    (['benchmark://demo-v0/a', 'benchmark://demo-v0/b'], 2)
    """

    def __init__(
        self,
        dataset_root: str | Path,
        benchmark_file_suffix: str = "",
        memoize_uris: bool = True,
        **dataset_args: Any,
    ) -> None:
        super().__init__(**dataset_args)
        self._dataset_root = Path(dataset_root)
        self.benchmark_file_suffix = benchmark_file_suffix
        """The suffix that all program files have."""
        self._memoize_uris = memoize_uris
        self._names: list[str] | None = None

    @property
    def dataset_root(self) -> Path:
        """The directory that holds the files."""
        return self._dataset_root

    @property
    def installed(self) -> bool:
        """True if the directory exists."""
        return self.dataset_root.is_dir()

    @property
    def size(self) -> int:
        """The number of files, counted once if `memoize_uris`."""
        if not self._memoize_uris:
            return sum(1 for _ in self._walk())
        return len(self._list_names())

    def benchmark_uris(self) -> Iterator[str]:
        """Yield the address of every file, sorted by name."""
        for name in self._walk() if self._names is None else self._names:
            yield self._make_uri(name)

    def benchmark_uri_at(self, index: int) -> str:
        """Return the `index`-th address of `benchmark_uris`, counted from 0."""
        if not self._memoize_uris:
            return super().benchmark_uri_at(index)
        names = self._list_names()
        if not 0 <= index < len(names):
            raise UnknownNameError(f"{self.name} has no program number {index}")
        return self._make_uri(names[index])

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> Benchmark:
        """Return the program at `uri`."""
        self.install()
        return self.benchmark_class.from_file(uri, self.find_path(uri))

    def find_path(self, uri: BenchmarkUri) -> Path:
        """Return the file of the program at `uri`; raise `UnknownNameError` if there is none."""
        parts = uri.path.split("/")[1:]
        sane = parts and all(part not in ("", ".", "..") and "\0" not in part for part in parts)
        path = self.dataset_root.joinpath(*parts) if sane else self.dataset_root
        path = path.with_name(path.name + self.benchmark_file_suffix)
        if not sane or not path.is_file():
            raise UnknownNameError(f"no program {uri}{self._suggestion(uri)}")
        return path

    def install(self) -> None:
        """Raise `DatasetInitError` if the directory does not exist."""
        super().install()
        if not self.installed:
            raise DatasetInitError(f"{self.name} needs the directory {self.dataset_root}")

    def _random_benchmark(self, random_state: Any) -> Benchmark:
        self.install()
        if self.size == 0:
            raise UnknownNameError(f"{self.name} has no programs: {self.dataset_root} is empty")
        return super()._random_benchmark(random_state)

    def _list_names(self) -> list[str]:
        if self._names is None:
            self._names = list(self._walk())
        return self._names

    def _make_uri(self, name: str) -> str:
        return f"{self.name}/{quote_path(name)}"

    def _walk(self) -> Iterator[str]:
        self.install()
        suffix = self.benchmark_file_suffix
        for name in walk_files(self.dataset_root):
            if name.endswith(suffix) and len(name) > len(suffix):
                yield name[: len(name) - len(suffix)]

    def _suggestion(self, uri: BenchmarkUri) -> str:
        names = self._names
        if names is None:
            names = list(itertools.islice(self._walk(), _SUGGEST_UP_TO + 1))
        near = "" if len(names) > _SUGGEST_UP_TO else did_you_mean(uri.path[1:], names)
        return f": {near}" if near else ""


def walk_files(root: Path) -> Iterator[str]:
    """Yield the relative name of every file below `root` in a fixed order, one folder at a time.

    Hidden files are skipped, and symlinks to directories are not followed.
    """
    pending = [""]
    while pending:
        folder = pending.pop()
        with os.scandir(root / folder) as scan:
            entries = sorted(
                (entry for entry in scan if not entry.name.startswith(".")), key=lambda e: e.name
            )
        prefix = f"{folder}/" if folder else ""
        yield from (prefix + entry.name for entry in entries if entry.is_file())
        folders = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
        pending += [prefix + entry.name for entry in reversed(folders)]


_CONTENTS = "contents"
_RECORD = "installed.json"
_MANIFEST = "manifest.txt"
_MANIFEST_LIMITS = ArchiveLimits(max_bytes=1 << 30, small=1 << 30)


class TarDataset(FilesDataset):
    """The files of a tar archive, downloaded from the first of `tar_urls` that serves it.

    `tar_sha256` is the expected hash of the archive. `strip_prefix` is the folder in the archive
    that contains the programs. `known_size` is the value of `size` until the archive is installed.
    """

    def __init__(
        self,
        tar_urls: str | Iterable[str],
        tar_sha256: str | None = None,
        tar_compression: str = "bz2",
        strip_prefix: str = "",
        *,
        known_size: int = 0,
        download_options: DownloadOptions | None = None,
        archive_limits: ArchiveLimits | None = None,
        **dataset_args: Any,
    ) -> None:
        super().__init__(dataset_root="", **dataset_args)
        self.tar_urls = _urls(tar_urls)
        """The addresses of the archive, tried in order."""
        self.tar_sha256 = tar_sha256
        """The sha256 of the archive."""
        self.tar_compression = tar_compression
        """``bz2``, ``gz``, ``xz``, ``zst`` or empty."""
        self.strip_prefix = strip_prefix
        """The folder in the archive that contains the programs."""
        self.known_size = known_size
        """The published number of programs."""
        self.download_options = download_options or DownloadOptions()
        """Retries and limits of downloads."""
        self.archive_limits = archive_limits or ArchiveLimits()
        """The largest size and number of files that are unpacked."""

    @property
    def dataset_root(self) -> Path:
        """The directory of the unpacked files."""
        return self.site_data_path / _CONTENTS

    @property
    def installed(self) -> bool:
        """True if the archive was downloaded and unpacked."""
        return self.has_site_data and (self.site_data_path / _RECORD).is_file()

    @property
    def size(self) -> int:
        """The number of programs: counted if installed, else as published."""
        return super().size if self.installed else self.known_size

    @property
    def needs(self) -> str:
        """The hosts that serve the archive, in a phrase for messages."""
        hosts = dict.fromkeys(urlsplit(url).netloc for url in self.tar_urls)
        return f"download from {' or '.join(hosts)}"

    def install(self) -> None:
        """Download and unpack the archive. Does nothing if installed."""
        self._warn_if_deprecated()
        if self.installed:
            return
        with hold(self.site_data_path):
            if not self.installed:
                self._install()
        self._names = None

    def uninstall(self) -> None:
        """Remove the unpacked files."""
        if not self.has_site_data or not self.site_data_path.exists():
            return
        with hold(self.site_data_path), as_dataset_errors(f"cannot remove {self.name}"):
            # Delete the record first: if the removal is interrupted, the dataset then
            # counts as not installed.
            (self.site_data_path / _RECORD).unlink(missing_ok=True)
            rmtree(self.site_data_path)
        self._names = None

    def verify(self) -> list[str]:
        """Return a sentence about each difference from the installed state."""
        self.install()
        record = json.loads((self.site_data_path / _RECORD).read_text())
        counts = _measure(self.dataset_root)
        return [
            f"{count} {key} instead of {record[key]}"
            for key, count in counts.items()
            if count != record[key]
        ]

    def fetch(self, urls: Iterable[str], sha256: str | None) -> Path:
        """Return a file of the dataset, downloading it if necessary."""
        addresses = _urls(urls)
        if not addresses:
            raise DatasetInitError(f"cannot download {self.name}: it has no URL")
        key = sha256 or BenchmarkUri("file", "", addresses[0]).path.replace("/", "_")
        path = self.site_data_path.parent / ".downloads" / key
        options = self.download_options
        try:
            return download_file(addresses, path, sha256=sha256, options=options)
        except DownloadFailed as error:
            raise type(error)(f"cannot install {self.name}: {error}") from error

    def _install(self) -> None:
        archive = self.fetch(self.tar_urls, self.tar_sha256)
        try:
            self._build(archive)
        except DatasetInitError as error:
            raise DatasetInitError(f"cannot install {self.name}: {error}") from error
        archive.unlink(missing_ok=True)

    def _build(self, archive: Path) -> None:
        with (
            as_dataset_errors(f"cannot install {self.site_data_path}"),
            replace_directory(self.site_data_path) as directory,
        ):
            self._fill(directory, archive)
            record = {"url": self.tar_urls, "sha256": self.tar_sha256, "time": int(time.time())}
            record |= _measure(directory / _CONTENTS)
            (directory / _RECORD).write_text(json.dumps(record, indent=1))

    def _fill(self, directory: Path, archive: Path) -> None:
        """Write the contents of the dataset below `directory`, from the downloaded archive."""
        (directory / _CONTENTS).mkdir()
        files = unpack(
            archive,
            directory / _CONTENTS,
            compression=self.tar_compression,
            strip_prefix=self.strip_prefix,
            limits=self.archive_limits,
        )
        if files == 0:
            raise DatasetInitError(
                f"the archive of {self.name} has no files below {self.strip_prefix or 'its root'!r}"
            )


class TarDatasetWithManifest(TarDataset):
    """A `TarDataset` whose programs are listed in a second, small file.

    The manifest has one program name per line, so programs can be counted and listed without
    the archive.
    """

    def __init__(
        self,
        manifest_urls: str | Iterable[str],
        manifest_sha256: str | None = None,
        manifest_compression: str = "bz2",
        **dataset_args: Any,
    ) -> None:
        super().__init__(**dataset_args)
        self.manifest_urls = _urls(manifest_urls)
        """The addresses of the manifest, tried in order."""
        self.manifest_sha256 = manifest_sha256
        """The sha256 of the compressed manifest."""
        self.manifest_compression = manifest_compression
        """``bz2``, ``gz``, ``xz``, ``zst`` or empty."""

    @property
    def size(self) -> int:
        """The number of programs: those listed if installed, else as published."""
        return len(self._list_names()) if self.installed else self.known_size

    def benchmark_uris(self) -> Iterator[str]:
        """Yield the address of every program, in the order of the manifest."""
        yield from (self._make_uri(name) for name in self._list_names())

    def verify(self) -> list[str]:
        """Return a sentence about each difference from the installed state."""
        findings = super().verify()
        suffix = self.benchmark_file_suffix
        missing = [
            n for n in self._list_names() if not (self.dataset_root / (n + suffix)).is_file()
        ]
        return findings + [f"{name} is listed but missing" for name in missing]

    def _fill(self, directory: Path, archive: Path) -> None:
        manifest = self._fetch_manifest()
        super()._fill(directory, archive)
        with as_dataset_errors(f"cannot install {self.name}"):
            (directory / _MANIFEST).write_bytes(manifest)

    def _walk(self) -> Iterator[str]:
        path = self.site_data_path / _MANIFEST
        text = path.read_bytes() if self.installed else self._fetch_manifest()
        yield from _names_in(text, self.name)

    def _list_names(self) -> list[str]:
        if self._names is None:
            self._names = list(self._walk())
        return self._names

    def _fetch_manifest(self) -> bytes:
        path = self.fetch(self.manifest_urls, self.manifest_sha256)
        with open_compressed(path, self.manifest_compression, limits=_MANIFEST_LIMITS) as file:
            text = file.read()
        for _ in _names_in(text, self.name):
            pass
        return text


def _names_in(text: bytes, dataset: str) -> Iterator[str]:
    seen: set[str] = set()
    for line in text.decode("utf-8", "surrogateescape").splitlines():
        name = line.strip()
        if not name:
            continue
        if name in seen or name.startswith("/") or ".." in name.split("/"):
            error = "is listed twice" if name in seen else "points outside the dataset"
            raise DatasetInitError(f"manifest of {dataset}: {printable(name)} {error}")
        seen.add(name)
        yield name


def _measure(directory: Path) -> dict[str, int]:
    files = [path for path in directory.rglob("*") if path.is_file()]
    return {"files": len(files), "bytes": sum(path.stat().st_size for path in files)}


def _urls(urls: str | Iterable[str]) -> list[str]:
    return [urls] if isinstance(urls, str) else list(urls)
