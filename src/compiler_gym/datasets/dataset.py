# SPDX-License-Identifier: MIT
"""The base class of datasets: named sets of programs that can be listed and read.

A dataset finds its programs and reads them on demand. It keeps none of them in memory, and
compiles nothing unless its plug-in does.
"""

import functools
import itertools
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, ClassVar

from compiler_gym.datasets.benchmark import Benchmark
from compiler_gym.datasets.uri import BenchmarkUri
from compiler_gym.errors import BenchmarkInitError, DatasetInitError, UnknownNameError

if TYPE_CHECKING:
    from numpy.random import Generator

_UNBOUNDED_DRAW = 2**32 - 1
_MOST_DRAWN = 1 << 16
"""The number of programs to draw from if a dataset has neither a size nor random access."""


@functools.total_ordering
class Dataset:
    """A named, versioned set of programs.

    Obligations of a subclass:

    - Implement `benchmark_uris` and `benchmark_from_parsed_uri`, which raise
      `NotImplementedError` here. The first yields addresses lazily, always in the
      same order. The second returns one program or raises `UnknownNameError`; its
      argument has no query and no fragment, and the caller restores both.
    - `size` is the number of programs, or 0 if the dataset is unbounded.
    - A dataset that must be downloaded is not `installed` until then, and `install`
      can be called at any time, by several processes at once.
    - Reading is thread-safe, and a dataset can be pickled.

    Datasets with the same name are equal, and a dataset equals its name as a string. They are
    ordered by `sort_order` and then by name.

    Example with two programs::

        >>> class Pair(Dataset):
        ...     size = 2
        ...     def benchmark_uris(self):
        ...         yield from (f"{self.name}/{word}" for word in ("one", "two"))
        ...     def benchmark_from_parsed_uri(self, uri):
        ...         return self.benchmark_class.from_file_contents(uri, uri.path.encode())
        >>> pair = Pair("pair-v0", "Two words", "MIT")
        >>> [str(program) for program in pair]
        ['benchmark://pair-v0/one', 'benchmark://pair-v0/two']
        >>> pair["two"].contents
        b'/two'
    """

    uri_keys: ClassVar[tuple[str, ...]] = ()
    """The query keys of an address that this dataset reads."""

    def __init__(
        self,
        name: str,
        description: str = "",
        license: str = "",
        *,
        site_data_base: str | Path | None = None,
        benchmark_class: type[Benchmark] = Benchmark,
        references: Mapping[str, str] | None = None,
        deprecated: str | None = None,
        sort_order: int = 0,
        validatable: str = "No",
        hidden: bool = False,
    ) -> None:
        self._uri = BenchmarkUri.from_string(name)
        if self._uri.path.strip("/") or self._uri.params or self._uri.fragment:
            raise DatasetInitError(f"{name!r} is not a dataset name; use a name such as mine-v0")
        self._description = description
        self._license = license
        self._site_data_base = None if site_data_base is None else Path(site_data_base).resolve()
        self.benchmark_class = benchmark_class
        """The class of the programs."""
        self._references = dict(references or {})
        self._deprecated = deprecated
        self.sort_order = sort_order
        """The sort key of listings, before the name."""
        self._validatable = validatable
        self._hidden = hidden
        self._warned = False

    @property
    def name(self) -> str:
        """The name with its scheme, for example ``benchmark://cbench-v1``."""
        return self._uri.dataset_name

    @property
    def scheme(self) -> str:
        """The part of the name before ``://``."""
        return self._uri.scheme

    @property
    def protocol(self) -> str:
        """The scheme, under its old name."""
        return self._uri.scheme

    @property
    def version(self) -> int:
        """The number after the last ``-v`` of the name; 0 without one."""
        number = self._uri.dataset.rpartition("-v")[2]
        return int(number) if number.isdecimal() else 0

    @property
    def description(self) -> str:
        """A one-line description of the programs."""
        return self._description

    @property
    def license(self) -> str:
        """The licence of the programs."""
        return self._license

    @property
    def references(self) -> dict[str, str]:
        """Further reading: titles and URLs."""
        return dict(self._references)

    @property
    def deprecated(self) -> bool:
        """True if you should use another dataset instead."""
        return self._deprecated is not None

    @property
    def deprecation_message(self) -> str | None:
        """The replacement to use if the dataset is deprecated, or None."""
        return self._deprecated

    @property
    def hidden(self) -> bool:
        """True if the dataset is left out of listings; it can still be requested by name."""
        return self._hidden or self.deprecated

    @property
    def validatable(self) -> str:
        """``Yes`` if the programs can be validated, ``No`` if not, ``Partially`` if some can."""
        return self._validatable

    @property
    def has_site_data(self) -> bool:
        """True if the dataset has its own directory."""
        return self._site_data_base is not None

    @property
    def site_data_path(self) -> Path:
        """The directory of the dataset's files; it may not exist yet."""
        if self._site_data_base is None:
            raise DatasetInitError(
                f"{self.name} was created without a site_data_base, so it has no files"
            )
        return self._site_data_base / self.scheme / self._uri.dataset

    @property
    def site_data_size_in_bytes(self) -> int:
        """The size of all files below `site_data_path`; 0 if there are none."""
        if not self.has_site_data:
            return 0
        files = (path for path in self.site_data_path.rglob("*") if path.is_file())
        return sum(path.lstat().st_size for path in files)

    @property
    def size(self) -> int:
        """The number of programs; 0 if the dataset is unbounded."""
        return 0

    @property
    def installed(self) -> bool:
        """True if the programs can be read without downloading anything."""
        return True

    @property
    def needs(self) -> str:
        """A phrase for messages: the download or tool the programs need; empty if none."""
        return ""

    def install(self) -> None:
        """Download everything needed to read the programs. Does nothing if installed."""
        self._warn_if_deprecated()

    def uninstall(self) -> None:
        """Remove the dataset's files, if there are any."""
        if self.has_site_data and self.site_data_path.exists():
            try:
                rmtree(self.site_data_path)
            except OSError as error:
                raise DatasetInitError(f"cannot remove {self.site_data_path}: {error}") from error

    def verify(self) -> list[str]:
        """Return a sentence about each problem with the installed files."""
        return []

    def benchmark_uris(self) -> Iterator[str]:
        """Yield the address of every program, always in the same order."""
        raise NotImplementedError(f"{type(self).__name__} defines no benchmark_uris()")

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> Benchmark:
        """Return the program at `uri`, which has neither query nor fragment."""
        raise NotImplementedError(f"{type(self).__name__} defines no benchmark_from_parsed_uri()")

    def benchmark(self, uri: str | BenchmarkUri) -> Benchmark:
        """Return the program at `uri`; raise `UnknownNameError` if there is none.

        Query and fragment do not select the program, but become part of its address.
        """
        parsed = uri if isinstance(uri, BenchmarkUri) else BenchmarkUri.from_string(uri)
        if parsed.scheme != self.scheme or parsed.dataset != (self._uri.dataset or parsed.dataset):
            raise UnknownNameError(f"{parsed} is not in {self.name}")
        return self.benchmark_from_parsed_uri(parsed.without_params()).with_uri(parsed)

    def benchmarks(self) -> Iterator[Benchmark]:
        """Yield every program, read lazily."""
        for uri in self.benchmark_uris():
            yield self.benchmark(uri)

    def benchmark_uri_at(self, index: int) -> str:
        """Return the `index`-th address of `benchmark_uris`, counted from 0."""
        uri = (
            next(itertools.islice(self.benchmark_uris(), index, None), None) if index >= 0 else None
        )
        if uri is None:
            raise UnknownNameError(f"{self.name} has no program number {index}")
        return uri

    def random_benchmark(self, random_state: "Generator | None" = None) -> Benchmark:
        """Return a uniformly random program, drawn with `random_state` or fresh entropy.

        If the dataset has neither a size nor random access, draws from the first 65,536.
        """
        from numpy.random import default_rng

        generator = default_rng() if random_state is None else random_state
        return self._random_benchmark(generator)

    def _random_benchmark(self, random_state: "Generator") -> Benchmark:
        if not self.installed:
            self.install()
        if type(self).benchmark_uri_at is Dataset.benchmark_uri_at and not self.size:
            return self.benchmark(self._draw_address(random_state))
        end = self.size or _UNBOUNDED_DRAW
        return self.benchmark(self.benchmark_uri_at(int(random_state.integers(end))))

    def _draw_address(self, random_state: "Generator") -> str:
        """Return one of the first addresses: the dataset may be unbounded."""
        first = list(itertools.islice(self.benchmark_uris(), _MOST_DRAWN))
        if not first:
            raise UnknownNameError(f"{self.name} has no programs to choose from")
        return first[int(random_state.integers(len(first)))]

    def _warn_if_deprecated(self) -> None:
        if self._deprecated is not None and not self._warned:
            self._warned = True
            warnings.warn(
                f"{self.name} is deprecated: {self._deprecated}", DeprecationWarning, stacklevel=3
            )

    def __len__(self) -> int:
        return self.size

    def __bool__(self) -> bool:
        # An unbounded dataset has length 0 but is not empty.
        return True

    def __iter__(self) -> Iterator[Benchmark]:
        return self.benchmarks()

    def __getitem__(self, key: str | int | BenchmarkUri) -> Benchmark:
        """Return a program by its address, its name in the dataset or its index."""
        if isinstance(key, int):
            return self.benchmark(self.benchmark_uri_at(key))
        return self.benchmark(self._absolute(key))

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, (str, BenchmarkUri)):
            return isinstance(key, Benchmark) and key.uri in self
        try:
            self[key]
        except (UnknownNameError, BenchmarkInitError):
            return False
        return True

    def __lt__(self, other: "Dataset | str") -> bool:
        if isinstance(other, str):
            return self.name < other
        return (self.sort_order, self.name) < (other.sort_order, other.name)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Dataset):
            return self.name == other.name
        return self.name == other if isinstance(other, str) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return self.name

    def _absolute(self, key: str | BenchmarkUri) -> BenchmarkUri:
        if isinstance(key, BenchmarkUri):
            return key
        for prefix in (self.name, self._uri.dataset or None):
            if prefix is not None and key.startswith(f"{prefix}/"):
                return BenchmarkUri.from_string(key)
        return BenchmarkUri.from_string(f"{self.name}/{key.lstrip('/')}")
