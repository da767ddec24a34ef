# SPDX-License-Identifier: MIT
"""The contract of a dataset: a named set of programs that can be listed and read.

A dataset knows where its programs are and how to get them. It keeps none of them
in memory, and compiles nothing unless its plug-in says so.
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

__all__ = ["Dataset"]

_UNBOUNDED_DRAW = 2**32 - 1
_MOST_DRAWN = 1 << 16
"""Among how many programs one is drawn of a dataset that says neither its size nor `n`-th."""


@functools.total_ordering
class Dataset:
    """A named, versioned set of programs.

    Obligations of a subclass:

    - `benchmark_uris` and `benchmark_from_parsed_uri` are written. The first
      yields addresses one by one, always in the same order, holding no more
      than it yields. The second returns one program or raises `UnknownNameError`;
      it is asked without query and fragment, and the caller puts these back. Both
      raise `NotImplementedError` here.
    - `size` is the number of programs, or 0 when there is no end.
    - A dataset that must be fetched says so by `installed`, and its `install`
      may be called at any time, by several processes at once.
    - Reading is safe from several threads. A dataset can be pickled.

    Datasets of one name are equal, and equal to the name as text. They are ordered by
    `sort_order` and then by name.

    A dataset of two programs::

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
    """The keys that an address may have after its ``?`` because this dataset reads them."""

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
            raise DatasetInitError(f"not the name of a dataset: {name!r}: expected name-v0")
        self._description = description
        self._license = license
        self._site_data_base = None if site_data_base is None else Path(site_data_base).resolve()
        self.benchmark_class = benchmark_class
        """What `benchmark_from_parsed_uri` makes."""
        self._references = dict(references or {})
        self._deprecated = deprecated
        self.sort_order = sort_order
        """Datasets are listed by this number, then by name."""
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
        """The scheme, under its older name."""
        return self._uri.scheme

    @property
    def version(self) -> int:
        """The number after the last ``-v`` of the name; 0 without one."""
        number = self._uri.dataset.rpartition("-v")[2]
        return int(number) if number.isdecimal() else 0

    @property
    def description(self) -> str:
        """Description of the programs in one line."""
        return self._description

    @property
    def license(self) -> str:
        """The licence of the programs."""
        return self._license

    @property
    def references(self) -> dict[str, str]:
        """Where to read more: names and addresses."""
        return dict(self._references)

    @property
    def deprecated(self) -> bool:
        """True if another dataset should be used instead."""
        return self._deprecated is not None

    @property
    def deprecation_message(self) -> str | None:
        """What to use instead, if the dataset is deprecated."""
        return self._deprecated

    @property
    def hidden(self) -> bool:
        """True if the dataset is left out of listings; it can be asked for by name."""
        return self._hidden or self.deprecated

    @property
    def validatable(self) -> str:
        """Whether its programs can be validated: ``Yes``, ``No`` or ``Partially``."""
        return self._validatable

    @property
    def has_site_data(self) -> bool:
        """True if the dataset has a directory of its own."""
        return self._site_data_base is not None

    @property
    def site_data_path(self) -> Path:
        """The directory that holds the dataset's files; it may not exist yet."""
        if self._site_data_base is None:
            raise DatasetInitError(
                f"{self.name} was made without a site_data_base: it has no files"
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
        """The number of programs; 0 if there is no end."""
        return 0

    @property
    def installed(self) -> bool:
        """True if the programs can be read without fetching anything."""
        return True

    @property
    def needs(self) -> str:
        """What must be fetched or installed to read the programs, in words; empty if nothing."""
        return ""

    def install(self) -> None:
        """Fetch what is needed to read the programs. Does nothing when installed."""
        self._warn_if_deprecated()

    def uninstall(self) -> None:
        """Remove the dataset's files. Does nothing when there are none."""
        if self.has_site_data and self.site_data_path.exists():
            try:
                rmtree(self.site_data_path)
            except OSError as error:
                raise DatasetInitError(f"cannot remove {self.site_data_path}: {error}") from error

    def verify(self) -> list[str]:
        """Return what is wrong with the installed files, as sentences; none if all is well."""
        return []

    def benchmark_uris(self) -> Iterator[str]:
        """Yield the address of every program, always in the same order."""
        raise NotImplementedError(f"{type(self).__name__} defines no benchmark_uris()")

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> Benchmark:
        """Return the program at `uri`, which has neither query nor fragment."""
        raise NotImplementedError(f"{type(self).__name__} defines no benchmark_from_parsed_uri()")

    def benchmark(self, uri: str | BenchmarkUri) -> Benchmark:
        """Return the program at `uri`; raise `UnknownNameError` if there is none.

        Query and fragment do not select the program; they are part of the
        returned program's address.
        """
        parsed = uri if isinstance(uri, BenchmarkUri) else BenchmarkUri.from_string(uri)
        if parsed.scheme != self.scheme or parsed.dataset != (self._uri.dataset or parsed.dataset):
            raise UnknownNameError(f"{parsed} is not in {self.name}")
        return self.benchmark_from_parsed_uri(parsed.without_params()).with_uri(parsed)

    def benchmarks(self) -> Iterator[Benchmark]:
        """Yield every program, each read when it is asked for."""
        for uri in self.benchmark_uris():
            yield self.benchmark(uri)

    def benchmark_uri_at(self, index: int) -> str:
        """Return the `index`-th address, counted from 0, of `benchmark_uris`."""
        uri = (
            next(itertools.islice(self.benchmark_uris(), index, None), None) if index >= 0 else None
        )
        if uri is None:
            raise UnknownNameError(f"{self.name} has no program number {index}")
        return uri

    def random_benchmark(self, random_state: "Generator | None" = None) -> Benchmark:
        """Return a program chosen uniformly with `random_state`, or with fresh entropy.

        Of a dataset that says neither how many there are nor which is the n-th, it is
        one of the first 65,536.
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
        """Return one of the first addresses: whether there is an end, nobody said."""
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
        # A dataset without end has length 0, and is anything but empty.
        return True

    def __iter__(self) -> Iterator[Benchmark]:
        return self.benchmarks()

    def __getitem__(self, key: str | int | BenchmarkUri) -> Benchmark:
        """Return a program by its address, by its name in the dataset or by its number."""
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
