# SPDX-License-Identifier: MIT
"""A dataset in one SQLite file of compressed programs.

`corpus_writer` writes the file once; afterwards it is only read, and replaced as a whole, never
changed in place. So it needs no locks, opens in a fraction of a millisecond and can be shared by
any number of processes. The tables of format 1 are::

    meta        key, value              format, name, licence, description, programs
    dictionary  id, data                Zstandard dictionaries, trained on the programs
    origin      id, license, source,    origins of programs: each combination once
                license_files, language
    program     id, key, sha256, size,  one row per program: ids are 1, 2, 3, ... without gaps;
                suffix, origin          the key is the path of its address, percent-encoded
    content     id, dictionary, data    the contents, a Zstandard frame with a checksum
    alias       key, program, origin    other names of the same contents
    unreadable  key, origin, reason,    inputs that an import could not read, unchanged
                data
    progress    input, position         position of an unfinished import; empty if complete

These tables describe programs that were gathered from packages; they are empty in other
corpora, and missing from files of earlier versions::

    package     id, name, version, source_sha256, license, split, compiler, level
    fact        id, kinds, split, cluster, instructions, functions      one row per program:
                kinds is a sum of 1 (module), 2 (linked program) and 4 (shared library)
    place       program, package, kind, file, command   each place a program comes from
    part        whole, program          the modules of a linked program
    function    program, number, shape, instructions, is_library
    test        program, package, file, folder, command, libraries, tree    its package's tests

`SAMPLE` has real programs that come with this library: modules and linked programs from Debian
packages. ``python -m scripts.corpus_sample`` creates its file; the licences are in its folder.
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

CORPUS_FILE = "corpus.sqlite"
"""The name of the file in the folder of an installed corpus."""
BUILT_LINK = "built"
"""The name of the symlink, next to the file, to the folder of built packages it comes from."""
_SUGGEST_UP_TO = 10_000

Reader = Callable[[BenchmarkUri, CorpusProgram], Benchmark]
"""A function that creates the benchmark of a stored program; a plug-in may compile it first."""

Tester = Callable[[Path, PackageTest], ValidationCallback]
"""A function that creates the validation callback of a linked program from the folder of built
packages and the test of its package."""


class CorpusDataset(Dataset):
    """The programs in the corpus file `path`.

    The name, licence and description default to those in the file. `reader` creates the benchmark
    of a stored program; by default its contents are the stored bytes. `tester` creates a validation
    callback that runs the tests of a linked program's package.

        >>> import tempfile
        >>> from compiler_gym_corpus.collections.corpus_writer import CorpusWriter
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
        """The reason why the file is unreadable; empty if no damage was detected."""
        meta = {} if None not in (name, description, license) else self._store.meta()
        super().__init__(
            name or meta["name"],
            meta.get("description", "") if description is None else description,
            meta.get("license", "") if license is None else license,
            **dataset_args,
        )
        self._reader = reader or self._read_bytes
        self._tester = tester

    @property
    def installed(self) -> bool:
        """True if the file exists and can be read."""
        return not self.damage and self.path.is_file()

    @property
    def needs(self) -> str:
        """The advice to import a damaged file again; empty otherwise."""
        return "import it again: it is damaged" if self.damage else ""

    @property
    def has_site_data(self) -> bool:
        """True: the directory of the file belongs to the dataset."""
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
        """``Partially`` if programs can be validated with the tests of their packages."""
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
                self.damage or f"{self.name} needs the file {self.path}; import it again"
            )

    def uninstall(self) -> None:
        """Remove the corpus file, and its directory if it is otherwise empty."""
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
            pass  # The user keeps other files in it.

    def benchmark_uris(self) -> Iterator[str]:
        """Yield the address of every program, in import order."""
        prefix = f"{self.name}/"
        yield from (prefix + key for key in self._store.keys_in_order())

    def benchmark_uri_at(self, index: int) -> str:
        """Return the `index`-th address of `benchmark_uris`, counted from 0."""
        return f"{self.name}/{self.program_at(index).key}"

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> Benchmark:
        """Return the program at `uri`, which may be any of the program's names."""
        return self._benchmark(uri, self.program(uri))

    def benchmarks(self) -> Iterator[Benchmark]:
        """Yield every program, in import order."""
        for program in self.programs():
            yield self._benchmark(self._make_uri(program), program)

    def programs(self) -> Iterator[CorpusProgram]:
        """Yield the stored record of every program."""
        return self._store.programs()

    def program(self, uri: str | BenchmarkUri) -> CorpusProgram:
        """Return the stored record of the program at `uri`."""
        parsed = BenchmarkUri.from_string(uri) if isinstance(uri, str) else uri
        program = self._store.find(quote_path(parsed.path[1:]))
        if program is None:
            some = itertools.islice(self.benchmark_uris(), _SUGGEST_UP_TO)
            near = did_you_mean(str(parsed), some, cutoff=0.8)
            raise UnknownNameError(
                f"no program {parsed} among the {self.size} of {self.name}{near and ': '}{near}"
            )
        return program

    def program_at(self, index: int) -> CorpusProgram:
        """Return the stored record of the `index`-th program, counted from 0."""
        program = self._store.at(index)
        if program is None:
            raise UnknownNameError(f"{self.name} has no program number {index}")
        return program

    @property
    def has_splits(self) -> bool:
        """True if the programs were gathered from packages, so they have splits and facts."""
        return self.installed and self._store.has_facts()

    def split(self, name: str, kind: str = "") -> "CorpusDataset":
        """Return the same dataset restricted to the programs of one split.

        `name` is one of `SPLITS`, or `NO_SPLIT` for programs that are in none. `kind` restricts
        them further: ``module``, ``program`` or ``library``. Programs outside the split can
        still be requested by address. Raises `UnknownNameError` for an unknown split or kind,
        and `DatasetInitError` if the corpus was not gathered from packages.
        """
        if name not in (*SPLITS, NO_SPLIT):
            raise UnknownNameError(unknown_name("split", name, (*SPLITS, NO_SPLIT)))
        return self._selecting(name, kind)

    def of_kind(self, kind: str) -> "CorpusDataset":
        """Return the same dataset restricted to the programs of one `kind`; see `split`."""
        return self._selecting("", kind)

    def _selecting(self, split: str, kind: str) -> "CorpusDataset":
        if kind and kind not in PROGRAM_KINDS:
            raise UnknownNameError(unknown_name("kind of program", kind, PROGRAM_KINDS))
        if not self.has_splits:
            raise DatasetInitError(
                f"{self.name} has no splits and no kinds; use a dataset that was gathered "
                "from packages, such as debian-sample-v0"
            )
        other = copy.copy(self)
        other._store = CorpusStore(self.path, StoredSelection(split, PROGRAM_KINDS.get(kind, 0)))
        return other

    def facts(self, uri: str | BenchmarkUri) -> ProgramFacts:
        """Return the facts about the program at `uri`, such as its split and its package.

        Raises `UnknownNameError` if there is no such program, and `DatasetInitError` if nothing
        is recorded about it.
        """
        return self.read_facts(self.program(uri))

    def read_facts(self, program: CorpusProgram) -> ProgramFacts:
        """Return the facts about `program`; see `facts`."""
        facts = self._store.facts(program.key)
        if facts is None:
            raise DatasetInitError(f"no facts are recorded about {self._make_uri(program)}")
        return facts

    def functions(self, uri: str | BenchmarkUri) -> list[FunctionShape]:
        """Return the functions of the program at `uri`, without their names and constants."""
        return self._store.functions(self.program(uri).key)

    def packages(self) -> list[PackageFacts]:
        """Return the packages that the programs come from, sorted by name."""
        return self._store.packages()

    def unreadable(self) -> Iterator[tuple[str, str, bytes]]:
        """Yield the key, the reason and the bytes of each input that an import could not read."""
        return self._store.unreadable()

    def verify(self) -> list[str]:
        """Return a sentence about each program that differs from the imported one."""
        return [self.damage] if self.damage else self._store.verify()

    def _random_benchmark(self, random_state: Any) -> Benchmark:
        size = self.size
        if size == 0:
            raise UnknownNameError(f"{self.name} has no programs in {self.path}; import it again")
        program = self.program_at(int(random_state.integers(size)))
        return self._benchmark(self._make_uri(program), program)

    def _benchmark(self, uri: BenchmarkUri, program: CorpusProgram) -> Benchmark:
        """Return the program, with its package's tests as a validation callback if it has any."""
        benchmark = self._reader(uri, program)
        test = None if self._tester is None else self._store.test(program.key)
        if test is not None and self._tester is not None:
            benchmark.add_validation_callback(self._tester(self.site_data_path / BUILT_LINK, test))
        return benchmark

    def _make_uri(self, program: CorpusProgram) -> BenchmarkUri:
        return BenchmarkUri.of_program(self._uri, program.key)

    def _read_bytes(self, uri: BenchmarkUri, program: CorpusProgram) -> Benchmark:
        return self.benchmark_class.from_file_contents(uri, program.contents)


def find_corpora(
    site_data_base: Path,
    *,
    reader: Reader | None = None,
    tester: Tester | None = None,
    **dataset_args: Any,
) -> list[CorpusDataset]:
    """Return every corpus that was imported below `site_data_base`.

    An unreadable one has its reason in `damage` and counts as not installed.
    """
    corpora: list[CorpusDataset] = []
    for path in sorted(site_data_base.glob(f"*/*/{CORPUS_FILE}")):
        try:
            corpora.append(CorpusDataset(path, reader=reader, tester=tester, **dataset_args))
        except DatasetInitError as error:
            damaged = _open_damaged(path, str(error), **dataset_args)
            corpora += [] if damaged is None else [damaged]
    return corpora


def _open_damaged(path: Path, damage: str, **dataset_args: Any) -> CorpusDataset | None:
    name = f"{path.parent.parent.name}://{path.parent.name}"
    try:
        corpus = CorpusDataset(
            path, name=name, description="A damaged corpus", license="unknown", **dataset_args
        )
    except BenchmarkInitError:
        return None  # Not a valid dataset name: the user's own folder.
    corpus.damage = damage
    return corpus


SAMPLE = "sample.sqlite"


class SampleDataset(CorpusDataset):
    """``benchmark://debian-sample-v0``: modules and programs from Debian, with splits.

    Each package was built with its own build system, and its sources were also compiled to
    bitcode, prepared for ``-Oz`` but with no pass run. The licences are permissive; `notices` has
    their texts. ``dataset.split("train")``, ``"validation"`` and ``"test"`` have no functions in
    common, even if names and constants are ignored.
    """

    def __init__(self, **dataset_args: Any) -> None:
        super().__init__(sample_folder() / SAMPLE, **dataset_args)

    @property
    def has_site_data(self) -> bool:
        """False: the file is part of the library."""
        return False

    @property
    def notices(self) -> str:
        """The licence texts of the packages."""
        return (self.path.parent / "NOTICES.txt").read_text(encoding="utf-8")


def sample_folder() -> Path:
    """Return the folder of the sample, in a wheel or in a checkout."""
    return Path(__file__).parent / "debian_sample"
