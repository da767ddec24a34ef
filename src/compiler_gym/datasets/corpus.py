# SPDX-License-Identifier: MIT
"""A dataset that is one SQLite file of compressed programs.

The file is written once, by `corpus_writer`, and then only read: replaced as a
whole, never changed in place. So it needs no locks, opens in a fraction of a
millisecond and can be shared by any number of processes. Format 1 has::

    meta        key, value              format, name, licence, description, created, programs
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
"""

import hashlib
import itertools
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from compiler_gym.datasets.benchmark import Benchmark
from compiler_gym.datasets.dataset import Dataset
from compiler_gym.datasets.uri import BenchmarkUri, quote_path
from compiler_gym.errors import BenchmarkInitError, DatasetInitError, UnknownNameError
from compiler_gym.nearest import did_you_mean

__all__ = ["CorpusDataset", "CorpusProgram", "find_corpora"]

FORMAT = 1
FILE_NAME = "corpus.sqlite"
_ROWS_PER_READ = 32
_MOST_ORIGINS = 4096
_CACHE_KIB = 8192
_SUGGEST_UP_TO = 10_000
"""What SQLite may keep of the file: with less, a random read fetches its pages again."""
_COLUMNS = "program.id, key, size, program.sha256, suffix, origin, dictionary, data"
_SELECT = f"SELECT {_COLUMNS} FROM program JOIN content USING (id)"
_ORIGIN = "SELECT license, source, license_files, language FROM origin WHERE id = ?"
_BY_KEY = f"{_SELECT} WHERE program.key = ?"
_BY_ID = f"{_SELECT} WHERE program.id = ?"
_AFTER_ID = f"{_SELECT} WHERE program.id > ? ORDER BY program.id LIMIT {_ROWS_PER_READ}"
_KEYS_AFTER_ID = f"SELECT id, key FROM program WHERE id > ? ORDER BY id LIMIT {_ROWS_PER_READ}"

_T = TypeVar("_T")


# A frozen dataclass takes as long to make as a row to read.
class CorpusProgram(Struct, frozen=True):
    """One program of a corpus, with where it comes from."""

    key: str
    """The path of its address, percent-encoded."""
    contents: bytes
    """The program."""
    sha256: str
    """The hash of `contents`, in hexadecimal."""
    suffix: str
    """What kind of file it was, for example ``.c``."""
    license: str
    """Its licence, as an SPDX expression where one is known."""
    source: str
    """Where it was found: an address, a package or a path."""
    license_files: str
    """The files that state the licence, as JSON, where they are known."""
    language: str
    """The language it was written in, where that is known."""


Reader = Callable[[BenchmarkUri, CorpusProgram], Benchmark]
"""Makes the benchmark of a stored program: a compiler's plug-in may build it first."""


class CorpusDataset(Dataset):
    """The programs in the corpus file `path`.

    Without a name, licence or description, those in the file are used. `reader`
    makes a benchmark of what is stored; as it is, a program is its bytes.

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
        **dataset_args: Any,
    ) -> None:
        self.path = Path(path)
        """The corpus file."""
        self._store = _Store(self.path)
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

    @property
    def installed(self) -> bool:
        """Whether the file exists and can be read."""
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
        return self._reader(uri, self.program(uri))

    def benchmarks(self) -> Iterator[Benchmark]:
        """Yield every program, in the order of the import."""
        for program in self.programs():
            yield self._reader(self._uri_of(program), program)

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
        return self._reader(self._uri_of(program), program)

    def _uri_of(self, program: CorpusProgram) -> BenchmarkUri:
        return BenchmarkUri.of_program(self._uri, program.key)

    def _as_it_is(self, uri: BenchmarkUri, program: CorpusProgram) -> Benchmark:
        return self.benchmark_class.from_file_contents(uri, program.contents)


def find_corpora(
    site_data_base: Path, *, reader: Reader | None = None, **dataset_args: Any
) -> list[CorpusDataset]:
    """Return every corpus that was imported below `site_data_base`.

    One that cannot be read says so by its `damage`, and counts as not installed.
    """
    found: list[CorpusDataset] = []
    for path in sorted(site_data_base.glob(f"*/*/{FILE_NAME}")):
        try:
            found.append(CorpusDataset(path, reader=reader, **dataset_args))
        except DatasetInitError as error:
            damaged = _damaged_at(path, str(error), **dataset_args)
            found += [] if damaged is None else [damaged]
    return found


def _damaged_at(path: Path, damage: str, **dataset_args: Any) -> CorpusDataset | None:
    name = f"{path.parent.parent.name}://{path.parent.name}"
    try:
        corpus = CorpusDataset(
            path, name=name, description="A damaged corpus", license="unknown", **dataset_args
        )
    except BenchmarkInitError:
        return None  # No dataset can be called that: it is somebody's own folder.
    corpus.damage = damage
    return corpus


class _Store:
    """The open file: one connection for each thread of each process that reads it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._local = threading.local()

    def meta(self) -> dict[str, str]:
        return self._read(lambda db: dict(db.sql.execute("SELECT key, value FROM meta")))

    def size(self) -> int:
        return self._read(lambda db: db.size)

    def find(self, key: str) -> CorpusProgram | None:
        def look_up(db: "_Connection") -> CorpusProgram | None:
            row = db.sql.execute(_BY_KEY, (key,)).fetchone()
            if row is None:
                alias = "SELECT program FROM alias WHERE key = ?"
                number = db.sql.execute(alias, (key,)).fetchone()
                row = number and db.sql.execute(_BY_ID, number).fetchone()
            return db.program(row) if row else None

        return self._read(look_up)

    def at(self, index: int) -> CorpusProgram | None:
        try:
            db = self._connection()
            row = db.sql.execute(_BY_ID, (index + 1,)).fetchone()
            return db.program(row) if row else None
        except (sqlite3.Error, _CorruptFrame) as error:
            raise self._damaged(error) from error

    def keys_in_order(self) -> Iterator[str]:
        last = 0
        while rows := self._rows_after(_KEYS_AFTER_ID, last):
            yield from (row[1] for row in rows)
            last = rows[-1][0]

    def programs(self) -> Iterator[CorpusProgram]:
        last = 0
        while rows := self._rows_after(_AFTER_ID, last):
            db = self._local.connection
            for row in rows:
                try:
                    program = db.program(row)
                except _CorruptFrame as error:
                    raise self._damaged(error) from error
                yield program
            last = rows[-1][0]

    def unreadable(self) -> Iterator[tuple[str, str, bytes]]:
        rows = self._read(
            lambda db: db.sql.execute("SELECT key, reason, data FROM unreadable").fetchall()
        )
        yield from rows

    def verify(self) -> list[str]:
        findings: list[str] = []
        for number in range(1, self.size() + 1):
            try:
                program = self.at(number - 1)
            except DatasetInitError as error:
                findings.append(f"program number {number} cannot be read: {error}")
                continue
            if program is None:
                findings.append(f"program number {number} is missing")
            elif hashlib.sha256(program.contents).hexdigest() != program.sha256:
                findings.append(f"{program.key} is not what was imported")
        return findings

    def close(self) -> None:
        connection = getattr(self._local, "connection", None)
        if connection is not None and connection.pid == os.getpid():
            connection.sql.close()
        self._local.connection = None

    def __reduce__(self) -> tuple[Any, ...]:
        return (_Store, (self._path,))

    def _rows_after(self, query: str, last: int) -> list[Any]:
        return self._read(lambda db: db.sql.execute(query, (last,)).fetchall())

    def _read(self, action: Callable[["_Connection"], _T]) -> _T:
        try:
            return action(self._connection())
        except (sqlite3.Error, _CorruptFrame) as error:
            raise self._damaged(error) from error

    def _damaged(self, error: Exception) -> DatasetInitError:
        self.close()
        return DatasetInitError(
            f"{self._path} is damaged or was altered while in use: {error}: import it again"
        )

    def _connection(self) -> "_Connection":
        # A new import replaces the file, so a look at its identity before every
        # read is what keeps an open environment from mixing two versions.
        try:
            found = os.stat(self._path)
        except OSError as error:
            self.close()
            raise DatasetInitError(
                f"the corpus {self._path} cannot be read: {error.strerror}"
            ) from error
        identity = (found.st_ino, found.st_mtime_ns, found.st_size)
        connection: _Connection | None = getattr(self._local, "connection", None)
        if connection is None or connection.identity != identity or connection.pid != os.getpid():
            connection = self._local.connection = _Connection(self._path, identity)
        return connection


class _CorruptFrame(Exception):
    """The bytes of a program do not decompress."""


class _Connection:
    """One open connection and the decompressors of its file."""

    def __init__(self, path: Path, identity: tuple[int, int, int]) -> None:
        self.identity = identity
        self.pid = os.getpid()
        quoted = quote_path(str(path.absolute()))
        # A file that is never changed in place needs neither locks nor a journal.
        self.sql = sqlite3.connect(
            f"file:{quoted}?mode=ro&immutable=1", uri=True, check_same_thread=False
        )
        self.sql.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        version = self.sql.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
        if version is None or int(version[0]) != FORMAT:
            raise DatasetInitError(
                f"{path} has corpus format {version and version[0]}, expected {FORMAT}"
            )
        self._dictionaries: dict[int, Any] = {}
        self._origins: dict[int, tuple[str, str, str, str]] = {}
        self._size: int | None = None

    def __del__(self) -> None:
        sql = getattr(self, "sql", None)
        if sql is not None:
            sql.close()

    @property
    def size(self) -> int:
        if self._size is None:
            self._size = int(self.sql.execute("SELECT max(id) FROM program").fetchone()[0] or 0)
        return self._size

    def program(self, row: Any) -> CorpusProgram:
        _, key, size, digest, suffix, origin, dictionary, data = row
        try:
            frame = self._frame(dictionary)
            contents = frame.decompress(data, max_length=size + 1)
        except Exception as error:
            raise _CorruptFrame(f"{key}: {error}") from error
        if len(contents) != size or not frame.eof:
            raise _CorruptFrame(f"{key}: {len(contents)} bytes instead of {size}")
        found = self._origins.get(origin) or self._load_origin(origin)
        return CorpusProgram(key, contents, digest.hex(), suffix, *found)

    def _load_origin(self, origin: int) -> tuple[str, str, str, str]:
        row = self.sql.execute(_ORIGIN, (origin,)).fetchone()
        if row is None:
            raise _CorruptFrame(f"there is no origin number {origin}")
        if len(self._origins) >= _MOST_ORIGINS:
            self._origins.clear()
        self._origins[origin] = row
        return row

    def _frame(self, dictionary: int) -> Any:
        """Return what unpacks one frame; a dictionary is prepared once."""
        from compiler_gym.datasets.fetching.zstd import zstd

        if dictionary not in self._dictionaries:
            select = "SELECT data FROM dictionary WHERE id = ?"
            row = self.sql.execute(select, (dictionary,)).fetchone()
            self._dictionaries[dictionary] = zstd.ZstdDict(row[0]) if row else None
        return zstd.ZstdDecompressor(self._dictionaries[dictionary])
