# SPDX-License-Identifier: MIT
"""A dataset that is one SQLite file of compressed programs.

The file is written once, by `corpus_writer`, and then only read: replaced as a
whole, never changed in place. So it needs no locks, opens in a fraction of a
millisecond and can be shared by any number of processes. Format 1 has::

    meta        key, value              format, name, licence, description, programs
    dictionary  id, data                Zstandard dictionaries, trained on the programs
    origin      id, license, source,    where programs come from: each combination once
                license_files, language
    program     id, key, sha256, size,  one row a program: ids are 1, 2, 3, ... without a gap;
                suffix, origin          the key is the path of its address, percent-encoded
    content     id, dictionary, data    its bytes, a Zstandard frame with a checksum
    alias       key, program, origin    other names of the same bytes
    unreadable  key, origin, reason,    what an import could not read, kept as it was found
                data
    progress    input, position         how far an unfinished import got; empty when whole

Of programs that were gathered from packages it says more, in tables that are empty otherwise
and that files of earlier versions lack::

    package     id, name, version, source_sha256, license, split, compiler, level
    fact        id, kinds, split, cluster, instructions, functions      one row a program: the
                kinds are a sum of 1 (a module), 2 (a linked program) and 4 (a shared library)
    place       program, package, kind, file, command   each place that a program has
    part        whole, program          which modules a linked program has
    function    program, number, shape, instructions, is_library
    test        program, package, file, folder, command, libraries, tree    how it is tested
"""

import copy
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from compiler_gym.datasets.benchmark import Benchmark, ValidationCallback
from compiler_gym.datasets.corpus_store import (
    PROGRAM_KINDS,
    CorpusProgram,
    CorpusStore,
    PackageFacts,
    PackageTest,
    ProgramFacts,
    StoredSelection,
)
from compiler_gym.datasets.dataset import Dataset
from compiler_gym.datasets.splits import NO_SPLIT, SPLITS, FunctionShape
from compiler_gym.datasets.uri import BenchmarkUri, quote_path
from compiler_gym.errors import BenchmarkInitError, DatasetInitError, UnknownNameError
from compiler_gym.errors.nearest import did_you_mean, unknown_name

__all__ = ["BUILT_LINK", "CorpusDataset", "find_corpora"]

FILE_NAME = "corpus.sqlite"
BUILT_LINK = "built"
"""The link beside the file that leads to the folder of built packages that it was gathered from."""
_SUGGEST_UP_TO = 10_000

Reader = Callable[[BenchmarkUri, CorpusProgram], Benchmark]
"""Makes the benchmark of a stored program: a compiler's plug-in may build it first."""

Tester = Callable[[Path, PackageTest], ValidationCallback]
"""Makes the check of a linked program that its package tests: from the folder of built packages
and how it is tested there."""


class CorpusDataset(Dataset):
    """The programs in the corpus file `path`.

    Without a name, licence or description, those in the file are used. `reader`
    makes a benchmark of what is stored; as it is, a program is its bytes. `tester` makes a check of
    how a package tests a linked program.

        >>> import tempfile
        >>> from compiler_gym.datasets.fetching.corpus_writer import CorpusWriter
        >>> path = Path(tempfile.mkdtemp()) / "demo.sqlite"
        >>> with CorpusWriter(path, name="demo-v0") as writer:
        ...     _ = writer.add("a.c", b"int a;", license="MIT")
        ...     _ = writer.add("b.c", b"int b;", license="MIT")
        >>> corpus = CorpusDataset(path)
        >>> corpus, corpus.size, corpus["b.c"].contents
        (benchmark://demo-v0, 2, b'int b;')
    """

    def __init__(
        self,
        path: str | Path,
        *,
        name: str | None = None,
        description: str | None = None,
        license: str | None = None,
        reader: Reader | None = None,
        tester: Tester | None = None,
        **dataset_args: Any,
    ) -> None:
        self.path = Path(path)
        """The corpus file."""
        self._store = CorpusStore(self.path)
        self.damage = ""
        """Why nothing of the file can be read; empty if all is well, as far as was looked."""
        meta = {} if None not in (name, description, license) else self._store.meta()
        super().__init__(
            name or meta["name"],
            meta.get("description", "") if description is None else description,
            meta.get("license", "") if license is None else license,
            **dataset_args,
        )
        self._reader = reader or self._as_it_is
        self._tester = tester

    @property
    def installed(self) -> bool:
        """True if the file exists and can be read."""
        return not self.damage and self.path.is_file()

    @property
    def needs(self) -> str:
        """What to do about a damaged file; nothing otherwise."""
        return "import it again: it is damaged" if self.damage else ""

    @property
    def has_site_data(self) -> bool:
        """Return True: the directory of the file is the dataset's own."""
        return True

    @property
    def site_data_path(self) -> Path:
        """The directory that holds the corpus file."""
        return self.path.parent

    @property
    def site_data_size_in_bytes(self) -> int:
        """The size of the corpus file."""
        return self.path.stat().st_size if self.path.is_file() else 0

    @property
    def validatable(self) -> str:
        """True if its programs can be validated: those that their package tests can be."""
        return "Partially" if self.installed and self._store.has_tests() else super().validatable

    @property
    def size(self) -> int:
        """The number of programs."""
        return self._store.size() if self.installed else 0

    def install(self) -> None:
        """Raise `DatasetInitError` if the file does not exist."""
        super().install()
        if not self.installed:
            raise DatasetInitError(
                self.damage or f"{self.name} needs the file {self.path}: import it again"
            )

    def uninstall(self) -> None:
        """Remove the corpus file, and its directory if nothing else is in it."""
        self._store.close()
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            raise DatasetInitError(f"cannot remove {self.path}: {error.strerror}") from error
        (self.path.parent / BUILT_LINK).unlink(missing_ok=True)
        for leftover in self.path.parent.glob(f".{self.path.name}.*"):
            leftover.unlink(missing_ok=True)
        try:
            self.path.parent.rmdir()
        except OSError:
            pass  # Somebody keeps other files there.

    def benchmark_uris(self) -> Iterator[str]:
        """Yield the address of every program, in the order of the import."""
        prefix = f"{self.name}/"
        yield from (prefix + key for key in self._store.keys_in_order())

    def benchmark_uri_at(self, index: int) -> str:
        """Return the `index`-th address, counted from 0, of `benchmark_uris`."""
        return f"{self.name}/{self.program_at(index).key}"

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> Benchmark:
        """Return the program at `uri`, which may be any of its names."""
        return self._benchmark(uri, self.program(uri))

    def benchmarks(self) -> Iterator[Benchmark]:
        """Yield every program, in the order of the import."""
        for program in self.programs():
            yield self._benchmark(self._make_uri(program), program)

    def programs(self) -> Iterator[CorpusProgram]:
        """Yield every program as it is stored."""
        return self._store.programs()

    def program(self, uri: str | BenchmarkUri) -> CorpusProgram:
        """Return the program at `uri` as it is stored."""
        parsed = BenchmarkUri.from_string(uri) if isinstance(uri, str) else uri
        found = self._store.find(quote_path(parsed.path[1:]))
        if found is None:
            some = itertools.islice(self.benchmark_uris(), _SUGGEST_UP_TO)
            near = did_you_mean(str(parsed), some, cutoff=0.8)
            raise UnknownNameError(
                f"no program {parsed} among the {self.size} of {self.name}{near and ': '}{near}"
            )
        return found

    def program_at(self, index: int) -> CorpusProgram:
        """Return the `index`-th program, counted from 0, as it is stored."""
        found = self._store.at(index)
        if found is None:
            raise UnknownNameError(f"{self.name} has no program number {index}")
        return found

    @property
    def has_splits(self) -> bool:
        """True if the programs were gathered from packages: then `split` and `facts` know them."""
        return self.installed and self._store.has_facts()

    def split(self, name: str, kind: str = "") -> "CorpusDataset":
        """Return the same dataset with the programs of one split alone.

        `name` is one of `SPLITS`, or `NO_SPLIT` for those that are in none. `kind` chooses among
        them: ``module``, ``program`` or ``library``. Any program of the dataset can still be asked
        for by its address. Raises `UnknownNameError` for a split or a kind that there is not, and
        `DatasetInitError` for a corpus that was not gathered from packages.
        """
        if name not in (*SPLITS, NO_SPLIT):
            raise UnknownNameError(unknown_name("split", name, (*SPLITS, NO_SPLIT)))
        return self._selecting(name, kind)

    def of_kind(self, kind: str) -> "CorpusDataset":
        """Return the same dataset with the programs of one `kind` alone, as `split` does."""
        return self._selecting("", kind)

    def _selecting(self, split: str, kind: str) -> "CorpusDataset":
        if kind and kind not in PROGRAM_KINDS:
            raise UnknownNameError(unknown_name("kind of program", kind, PROGRAM_KINDS))
        if not self.has_splits:
            raise DatasetInitError(
                f"{self.name} has no splits and no kinds: expected a dataset that was gathered "
                "from packages, such as debian-sample-v0"
            )
        other = copy.copy(self)
        other._store = CorpusStore(self.path, StoredSelection(split, PROGRAM_KINDS.get(kind, 0)))
        return other

    def facts(self, uri: str | BenchmarkUri) -> ProgramFacts:
        """Return what is known of the program at `uri` beside its contents.

        Raises `UnknownNameError` if there is none, and `DatasetInitError` if nothing is known.
        """
        return self.read_facts(self.program(uri))

    def read_facts(self, program: CorpusProgram) -> ProgramFacts:
        """Return what is known of `program`, as `facts` does."""
        found = self._store.facts(program.key)
        if found is None:
            raise DatasetInitError(f"nothing more is known of {self._make_uri(program)}")
        return found

    def functions(self, uri: str | BenchmarkUri) -> list[FunctionShape]:
        """Return the functions of the program at `uri` without their names and constants."""
        return self._store.functions(self.program(uri).key)

    def packages(self) -> list[PackageFacts]:
        """Return the packages that the programs come from, in the order of their names."""
        return self._store.packages()

    def unreadable(self) -> Iterator[tuple[str, str, bytes]]:
        """Yield the key, the reason and the bytes of what an import could not read."""
        return self._store.unreadable()

    def verify(self) -> list[str]:
        """Return which programs are not what was imported, as sentences."""
        return [self.damage] if self.damage else self._store.verify()

    def _random_benchmark(self, random_state: Any) -> Benchmark:
        size = self.size
        if size == 0:
            raise UnknownNameError(f"{self.name} has no program: expected {self.path}")
        program = self.program_at(int(random_state.integers(size)))
        return self._benchmark(self._make_uri(program), program)

    def _benchmark(self, uri: BenchmarkUri, program: CorpusProgram) -> Benchmark:
        """Return the program, with the check of its package's own tests where it has one."""
        benchmark = self._reader(uri, program)
        test = None if self._tester is None else self._store.test(program.key)
        if test is not None and self._tester is not None:
            benchmark.add_validation_callback(self._tester(self.site_data_path / BUILT_LINK, test))
        return benchmark

    def _make_uri(self, program: CorpusProgram) -> BenchmarkUri:
        return BenchmarkUri.of_program(self._uri, program.key)

    def _as_it_is(self, uri: BenchmarkUri, program: CorpusProgram) -> Benchmark:
        return self.benchmark_class.from_file_contents(uri, program.contents)


def find_corpora(
    site_data_base: Path,
    *,
    reader: Reader | None = None,
    tester: Tester | None = None,
    **dataset_args: Any,
) -> list[CorpusDataset]:
    """Return every corpus that was imported below `site_data_base`.

    One that cannot be read says so by its `damage`, and counts as not installed.
    """
    found: list[CorpusDataset] = []
    for path in sorted(site_data_base.glob(f"*/*/{FILE_NAME}")):
        try:
            found.append(CorpusDataset(path, reader=reader, tester=tester, **dataset_args))
        except DatasetInitError as error:
            damaged = _open_damaged(path, str(error), **dataset_args)
            found += [] if damaged is None else [damaged]
    return found


def _open_damaged(path: Path, damage: str, **dataset_args: Any) -> CorpusDataset | None:
    name = f"{path.parent.parent.name}://{path.parent.name}"
    try:
        corpus = CorpusDataset(
            path, name=name, description="A damaged corpus", license="unknown", **dataset_args
        )
    except BenchmarkInitError:
        return None  # No dataset can be called that: it is somebody's own folder.
    corpus.damage = damage
    return corpus
