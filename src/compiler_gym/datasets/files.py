# SPDX-License-Identifier: MIT
"""A dataset in a directory of files, one program per file.

The name of a program is the path of its file below the directory, without the common suffix.
Files outside the directory are not served.
"""

import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from compiler_gym.datasets.benchmark import Benchmark
from compiler_gym.datasets.dataset import Dataset
from compiler_gym.datasets.uri import BenchmarkUri, quote_path
from compiler_gym.errors import DatasetInitError, UnknownNameError
from compiler_gym.errors.nearest import did_you_mean

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
