# SPDX-License-Identifier: MIT
"""Read access to a corpus file: one connection for each thread of each process.

`corpus` documents the tables.
"""

import hashlib
import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from compiler_gym.datasets.splits import FunctionShape
from compiler_gym.datasets.uri import quote_path
from compiler_gym.errors import DatasetInitError

CORPUS_FORMAT = 1
"""The version of the tables in a corpus file."""
_ROWS_PER_READ = 32
_MOST_ORIGINS = 4096
_CACHE_KIB = 8192
"""SQLite's page cache: with a smaller one, random reads fetch the same pages repeatedly."""
_COLUMNS = "program.id, key, size, program.sha256, suffix, origin, dictionary, data"
_SELECT = f"SELECT {_COLUMNS} FROM program JOIN content USING (id)"
_ORIGIN = "SELECT license, source, license_files, language FROM origin WHERE id = ?"
_BY_KEY = f"{_SELECT} WHERE program.key = ?"
_BY_ID = f"{_SELECT} WHERE program.id = ?"
_KEYS = "SELECT program.id, key FROM program"
_SELECTED = (
    "JOIN fact ON fact.id = program.id AND (:split = '' OR split = :split) "
    "AND (:kinds = 0 OR kinds & :kinds)"
)
_AFTER_ID = f"WHERE program.id > :last ORDER BY program.id LIMIT {_ROWS_PER_READ}"
_FACTS = "SELECT fact.* FROM fact JOIN program USING (id) WHERE key = ?"
_PACKAGE = "name, version, source_sha256, license, split, compiler, level"
_PLACES = (
    "SELECT name, version, source_sha256, kind, file, command FROM place "
    "JOIN package ON package.id = package WHERE program = ? ORDER BY name, kind, file, command"
)
_WHOLES = "SELECT key FROM part JOIN program ON program.id = whole WHERE program = ? ORDER BY key"
_PARTS = "SELECT key FROM part JOIN program ON program.id = program WHERE whole = ? ORDER BY key"
_FUNCTIONS = (
    "SELECT shape, instructions, is_library FROM function JOIN program "
    "ON program.id = program WHERE key = ? ORDER BY number"
)
_TEST = """SELECT name, version, file, folder, command, libraries, tree, language FROM test
    JOIN package ON package.id = package JOIN program ON program.id = program
    JOIN origin ON origin.id = origin WHERE key = ?"""

PROGRAM_KINDS = {"module": 1, "program": 2, "library": 4}
"""The kinds of programs: translation units, linked programs and shared libraries. They are bits,
because a program linked from a single module has the same bytes as that module."""

_T = TypeVar("_T")


# A Struct: creating a frozen dataclass takes as long as reading a row.
class CorpusProgram(Struct, frozen=True):
    """One program of a corpus, with its origin."""

    key: str
    """The path in its address, percent-encoded."""
    contents: bytes
    """The program's bytes."""
    sha256: str
    """The sha256 of `contents`, in hexadecimal."""
    suffix: str
    """The suffix of its file name, for example ``.c``."""
    license: str
    """Its licence, as an SPDX expression if one is known."""
    source: str
    """Its origin: a URL, a package or a path."""
    license_files: str
    """The files that state the licence, as JSON, if known."""
    language: str
    """The programming language, if known."""


class StoredSelection(Struct, frozen=True):
    """A subset of the programs of a corpus."""

    split: str = ""
    """The split to select; empty for all."""
    kinds: int = 0
    """The kinds to select, as a sum of `PROGRAM_KINDS`; 0 for all."""

    @property
    def is_all(self) -> bool:
        """True if it selects every program."""
        return not self.split and not self.kinds


class PackageFacts(Struct, frozen=True):
    """A source package of programs in a corpus."""

    name: str
    version: str
    source_sha256: str
    """The sha256 of its source description, which lists the digests of all its archives."""
    license: str
    """The licence of the package as a whole."""
    split: str
    compiler: str
    """The compiler that produced the bitcode."""
    level: str
    """The optimisation level that the bitcode is prepared for."""


class Place(Struct, frozen=True):
    """A file that a program comes from; equal programs may come from several."""

    package: str
    version: str
    source_sha256: str
    kind: str
    """One of `PROGRAM_KINDS`."""
    file: str
    """The source of a module, or the linked file, relative to the package's source tree."""
    command: tuple[str, ...]
    """The compiler command, without machine-specific paths; empty for linked files."""


class PackageTest(Struct, frozen=True):
    """The test that a package has for a program it builds."""

    package: str
    version: str
    file: str
    """The path of the program in the built tree."""
    folder: str
    """The working directory of the tests, relative to the tree."""
    command: tuple[str, ...]
    """The command that runs the tests."""
    libraries: tuple[str, ...]
    """The libraries to link with the module."""
    tree: str
    """The archive of the built tree, relative to the folder of built packages."""
    language: str
    """``c`` or ``c++``: selects the standard libraries to link."""


class ProgramFacts(Struct, frozen=True):
    """The recorded facts about a program, such as its split and its origins."""

    kinds: tuple[str, ...]
    """Names of `PROGRAM_KINDS`."""
    split: str
    """Its split, or `NO_SPLIT`."""
    cluster: str
    """16 hexadecimal digits shared by near duplicates."""
    instructions: int
    functions: int
    places: tuple[Place, ...]
    """The files it comes from."""
    programs: tuple[str, ...]
    """The keys of the linked programs that contain it."""
    modules: tuple[str, ...]
    """The keys of the modules it was linked from."""
    test: PackageTest | None = None
    """The test that its package has for it, if any."""


class CorpusStore:
    """An open corpus file, with one connection for each thread of each process."""

    def __init__(self, path: Path, selection: StoredSelection = StoredSelection()) -> None:  # noqa: B008
        self._path = path
        self._selection = selection
        self._local = threading.local()

    def meta(self) -> dict[str, str]:
        """Return the metadata of the file."""
        return self._read(lambda db: dict(db.sql.execute("SELECT key, value FROM meta")))

    def size(self) -> int:
        """Return the number of selected programs."""
        if self._selection.is_all:
            return self._read(lambda db: db.size)
        return self._read(lambda db: len(db.select(self._selection)))

    def find(self, key: str) -> CorpusProgram | None:
        """Return the program with the key or alias `key`, selected or not."""

        def look_up(db: "_Connection") -> CorpusProgram | None:
            row = db.sql.execute(_BY_KEY, (key,)).fetchone()
            if row is None:
                alias = "SELECT program FROM alias WHERE key = ?"
                number = db.sql.execute(alias, (key,)).fetchone()
                row = number and db.sql.execute(_BY_ID, number).fetchone()
            return db.program(row) if row else None

        return self._read(look_up)

    def at(self, index: int) -> CorpusProgram | None:
        """Return the `index`-th selected program, counted from 0."""
        try:
            db = self._connection()
            number = index + 1
            if not self._selection.is_all:
                selected = db.select(self._selection)
                number = selected[index] if 0 <= index < len(selected) else 0
            row = db.sql.execute(_BY_ID, (number,)).fetchone()
            return db.program(row) if row else None
        except (sqlite3.Error, _CorruptFrame) as error:
            raise self._report_damage(error) from error

    def keys_in_order(self) -> Iterator[str]:
        """Yield the key of each selected program."""
        last = 0
        while rows := self._rows_after(_KEYS, last):
            yield from (row[1] for row in rows)
            last = rows[-1][0]

    def programs(self) -> Iterator[CorpusProgram]:
        """Yield each selected program."""
        last = 0
        while rows := self._rows_after(_SELECT, last):
            db = self._local.connection
            for row in rows:
                try:
                    program = db.program(row)
                except _CorruptFrame as error:
                    raise self._report_damage(error) from error
                yield program
            last = rows[-1][0]

    def has_facts(self) -> bool:
        """Return whether the programs were gathered from packages."""
        return self._read(lambda db: db.has_facts)

    def facts(self, key: str) -> ProgramFacts | None:
        """Return the facts about the program `key`, or None."""

        def look_up(db: "_Connection") -> ProgramFacts | None:
            row = db.sql.execute(_FACTS, (key,)).fetchone() if db.has_facts else None
            if row is None:
                return None
            number, kinds, split, cluster, instructions, functions = row
            test = db.sql.execute(_TEST, (key,)).fetchone()
            return ProgramFacts(
                kinds=_kinds_in(kinds),
                split=split,
                cluster=cluster.hex(),
                instructions=instructions,
                functions=functions,
                places=tuple(_make_place(row) for row in db.sql.execute(_PLACES, (number,))),
                programs=tuple(row[0] for row in db.sql.execute(_WHOLES, (number,))),
                modules=tuple(row[0] for row in db.sql.execute(_PARTS, (number,))),
                test=test and _make_test(test),
            )

        return self._read(look_up)

    def has_tests(self) -> bool:
        """Return whether any program has a test of its package."""
        query = "SELECT 1 FROM test LIMIT 1"
        return self._read(lambda db: db.has_facts and db.sql.execute(query).fetchone() is not None)

    def test(self, key: str) -> PackageTest | None:
        """Return the package's test for the program `key`, or None."""
        row = self._read(
            lambda db: db.sql.execute(_TEST, (key,)).fetchone() if db.has_facts else None
        )
        return None if row is None else _make_test(row)

    def functions(self, key: str) -> list[FunctionShape]:
        """Return the functions of the program `key`."""

        def look_up(db: "_Connection") -> list[FunctionShape]:
            rows = db.sql.execute(_FUNCTIONS, (key,)) if db.has_facts else ()
            return [FunctionShape(shape, size, bool(library)) for shape, size, library in rows]

        return self._read(look_up)

    def packages(self) -> list[PackageFacts]:
        """Return every package."""
        query = f"SELECT {_PACKAGE} FROM package ORDER BY name"
        rows = self._read(lambda db: db.sql.execute(query).fetchall() if db.has_facts else [])
        return [PackageFacts(*row) for row in rows]

    def unreadable(self) -> Iterator[tuple[str, str, bytes]]:
        """Yield the key, reason and bytes of each input that could not be read."""
        rows = self._read(
            lambda db: db.sql.execute("SELECT key, reason, data FROM unreadable").fetchall()
        )
        yield from rows

    def verify(self) -> list[str]:
        """Return a sentence about each program that differs from the imported one."""
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
                findings.append(f"{program.key} differs from the imported program")
        return findings

    def close(self) -> None:
        """Close the connection of this thread."""
        connection = getattr(self._local, "connection", None)
        if connection is not None and connection.pid == os.getpid():
            connection.sql.close()
        self._local.connection = None

    def __reduce__(self) -> tuple[Any, ...]:
        return (CorpusStore, (self._path, self._selection))

    def _rows_after(self, query: str, last: int) -> list[Any]:
        selection = self._selection
        selected = "" if selection.is_all else _SELECTED
        values = {"last": last, "split": selection.split, "kinds": selection.kinds}
        text = f"{query} {selected} {_AFTER_ID}"
        return self._read(lambda db: db.sql.execute(text, values).fetchall())

    def _read(self, action: Callable[["_Connection"], _T]) -> _T:
        try:
            return action(self._connection())
        except (sqlite3.Error, _CorruptFrame) as error:
            raise self._report_damage(error) from error

    def _report_damage(self, error: Exception) -> DatasetInitError:
        self.close()
        return DatasetInitError(
            f"{self._path} is damaged or was altered while in use: {error}; import it again"
        )

    def _connection(self) -> "_Connection":
        # A new import replaces the file. Checking its identity before every read keeps an
        # open environment from mixing two versions.
        try:
            status = os.stat(self._path)
        except OSError as error:
            self.close()
            raise DatasetInitError(
                f"cannot read the corpus {self._path}: {error.strerror}"
            ) from error
        identity = (status.st_ino, status.st_mtime_ns, status.st_size)
        connection: _Connection | None = getattr(self._local, "connection", None)
        if connection is None or connection.identity != identity or connection.pid != os.getpid():
            connection = self._local.connection = _Connection(self._path, identity)
        return connection


class _CorruptFrame(Exception):
    """A program cannot be decompressed."""


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
        if version is None or int(version[0]) != CORPUS_FORMAT:
            raise DatasetInitError(
                f"{path} has corpus format {version and version[0]}; this library reads "
                f"{CORPUS_FORMAT}"
            )
        self._dictionaries: dict[int, Any] = {}
        self._origins: dict[int, tuple[str, str, str, str]] = {}
        self._size: int | None = None
        self._selected: dict[StoredSelection, list[int]] = {}
        self._has_facts: bool | None = None

    def __del__(self) -> None:
        sql = getattr(self, "sql", None)
        if sql is not None:
            sql.close()

    @property
    def size(self) -> int:
        if self._size is None:
            self._size = int(self.sql.execute("SELECT max(id) FROM program").fetchone()[0] or 0)
        return self._size

    @property
    def has_facts(self) -> bool:
        if self._has_facts is None:
            query = "SELECT 1 FROM sqlite_master WHERE name = 'fact'"
            self._has_facts = (
                self.sql.execute(query).fetchone() is not None
                and self.sql.execute("SELECT 1 FROM fact LIMIT 1").fetchone() is not None
            )
        return self._has_facts

    def select(self, selection: StoredSelection) -> list[int]:
        if selection not in self._selected:
            query = f"SELECT program.id FROM program {_SELECTED} ORDER BY program.id"
            values = {"split": selection.split, "kinds": selection.kinds}
            self._selected[selection] = [row[0] for row in self.sql.execute(query, values)]
        return self._selected[selection]

    def program(self, row: Any) -> CorpusProgram:
        _, key, size, digest, suffix, origin, dictionary, data = row
        try:
            frame = self._frame(dictionary)
            contents = frame.decompress(data, max_length=size + 1)
        except Exception as error:
            raise _CorruptFrame(f"{key}: {error}") from error
        if len(contents) != size or not frame.eof:
            raise _CorruptFrame(f"{key}: {len(contents)} bytes instead of {size}")
        columns = self._origins.get(origin) or self._load_origin(origin)
        return CorpusProgram(key, contents, digest.hex(), suffix, *columns)

    def _load_origin(self, origin: int) -> tuple[str, str, str, str]:
        row = self.sql.execute(_ORIGIN, (origin,)).fetchone()
        if row is None:
            raise _CorruptFrame(f"there is no origin number {origin}")
        if len(self._origins) >= _MOST_ORIGINS:
            self._origins.clear()
        self._origins[origin] = row
        return row

    def _frame(self, dictionary: int) -> Any:
        """Return a decompressor for one frame; each dictionary is prepared only once."""
        from compiler_gym.datasets.fetching import zstd

        if dictionary not in self._dictionaries:
            select = "SELECT data FROM dictionary WHERE id = ?"
            row = self.sql.execute(select, (dictionary,)).fetchone()
            self._dictionaries[dictionary] = zstd.ZstdDict(row[0]) if row else None
        return zstd.ZstdDecompressor(self._dictionaries[dictionary])


def _make_place(row: tuple[Any, ...]) -> Place:
    package, version, source_sha256, kind, file, command = row
    return Place(package, version, source_sha256, _kinds_in(kind)[0], file, _read_strings(command))


def _make_test(row: tuple[Any, ...]) -> PackageTest:
    package, version, file, folder, command, libraries, tree, language = row
    return PackageTest(
        package=package,
        version=version,
        file=file,
        folder=folder,
        command=_read_strings(command),
        libraries=_read_strings(libraries),
        tree=tree,
        language=language,
    )


def _kinds_in(number: int) -> tuple[str, ...]:
    return tuple(name for name, bit in PROGRAM_KINDS.items() if number & bit)


def _read_strings(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))
