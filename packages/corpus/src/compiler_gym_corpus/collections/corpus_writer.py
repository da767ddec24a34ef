# SPDX-License-Identifier: MIT
"""Write a corpus file: deduplicated, compressed with a trained dictionary, replaced atomically.

The new file grows next to the old one in committed batches, and replaces it only when complete.
An interrupted writer resumes from the last batch; readers see the old file until the end.
"""

import hashlib
import os
import shutil
import sqlite3
from collections.abc import Callable, Generator, Iterable
from contextlib import closing, contextmanager
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any

from compiler_gym.datasets import CORPUS_FORMAT, BenchmarkUri, quote_path
from compiler_gym.datasets.fetching import as_dataset_errors, hold
from compiler_gym.errors import DatasetInitError

__all__ = ["Added", "CorpusWriter"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS dictionary (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS origin (id INTEGER PRIMARY KEY, license TEXT NOT NULL,
    source TEXT NOT NULL, license_files TEXT NOT NULL, language TEXT NOT NULL,
    UNIQUE (license, source, license_files, language));
CREATE TABLE IF NOT EXISTS program (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,
    sha256 BLOB NOT NULL UNIQUE, size INTEGER NOT NULL, suffix TEXT NOT NULL,
    origin INTEGER NOT NULL REFERENCES origin);
CREATE TABLE IF NOT EXISTS content (id INTEGER PRIMARY KEY, dictionary INTEGER NOT NULL,
    data BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS alias (key TEXT PRIMARY KEY,
    program INTEGER NOT NULL REFERENCES program,
    origin INTEGER NOT NULL REFERENCES origin) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS unreadable (key TEXT NOT NULL,
    origin INTEGER NOT NULL REFERENCES origin,
    reason TEXT NOT NULL, data BLOB NOT NULL, UNIQUE (key, reason));
CREATE TABLE IF NOT EXISTS progress (input TEXT PRIMARY KEY, position INTEGER NOT NULL)
    WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS package (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
    version TEXT NOT NULL, source_sha256 TEXT NOT NULL, license TEXT NOT NULL,
    split TEXT NOT NULL, compiler TEXT NOT NULL, level TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS fact (id INTEGER PRIMARY KEY REFERENCES program, kinds INTEGER NOT NULL,
    split TEXT NOT NULL, cluster BLOB NOT NULL, instructions INTEGER NOT NULL,
    functions INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS place (program INTEGER NOT NULL REFERENCES program,
    package INTEGER NOT NULL REFERENCES package, kind INTEGER NOT NULL, file TEXT NOT NULL,
    command TEXT NOT NULL, PRIMARY KEY (program, package, kind, file, command)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS part (whole INTEGER NOT NULL REFERENCES program,
    program INTEGER NOT NULL REFERENCES program, PRIMARY KEY (whole, program)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS function (program INTEGER NOT NULL REFERENCES program,
    number INTEGER NOT NULL, shape INTEGER NOT NULL, instructions INTEGER NOT NULL,
    is_library INTEGER NOT NULL, PRIMARY KEY (program, number)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS test (program INTEGER PRIMARY KEY REFERENCES program,
    package INTEGER NOT NULL REFERENCES package, file TEXT NOT NULL, folder TEXT NOT NULL,
    command TEXT NOT NULL, libraries TEXT NOT NULL, tree TEXT NOT NULL);
"""
_TRAIN_PROGRAMS = 4000
_TRAIN_BYTES = 1 << 24
_TRAIN_AT_LEAST = 50
_SAMPLE_BYTES = 1 << 16
_DICTIONARY_BYTES = 112_640
_COMMIT_BYTES = 1 << 26
_COMMIT_PROGRAMS = 5000
_KEEP_UNREADABLE = 1 << 22
_LEVEL = 9


class Added(Enum):
    """The result of adding a program."""

    NEW = "new"
    """The program was stored."""
    DUPLICATE = "duplicate"
    """The same bytes are stored under another name; this name becomes an alias."""
    ALREADY_THERE = "already there"
    """The same bytes are already stored under this name."""
    NAME_TAKEN = "name taken"
    """Other bytes are stored under this name: the program is recorded as unreadable."""


class CorpusWriter:
    """Adds programs to the corpus file `path`, which is created if necessary.

    The file is complete when the ``with`` block ends without an exception. After an exception,
    `path` is unchanged, and the committed batches are kept for the next writer with the same
    `input_id`, a string that identifies the input.

        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "corpus.sqlite"
        >>> with CorpusWriter(path, name="demo-v0", license="MIT") as writer:
        ...     [writer.add(name, b"int x;").value for name in ("a.c", "b.c", "a.c")]
        ['new', 'duplicate', 'already there']
    """

    def __init__(
        self,
        path: Path,
        *,
        name: str,
        license: str = "",
        description: str = "",
        input_id: str = "",
    ) -> None:
        self.path = path
        """The corpus file."""
        self.partial = path.parent / f".{path.name}.partial"
        """The unfinished new file."""
        self._meta = {"name": name, "license": license, "description": description}
        self._input = input_id
        self._sql: sqlite3.Connection
        self._pending: list[tuple[int, bytes]] = []
        self._pending_bytes = 0
        self._origins: dict[tuple[str, ...], int] = {}
        self._dictionary = 0
        self._compress: Callable[[bytes], bytes] | None = None
        self._uncommitted = 0
        self._uncommitted_bytes = 0

    def __enter__(self) -> "CorpusWriter":
        self._stack = self._hold()
        self._stack.__enter__()
        return self

    def __exit__(self, *exception: Any) -> bool | None:
        return self._stack.__exit__(*exception)

    def add(
        self,
        key: str,
        contents: bytes,
        *,
        suffix: str = "",
        license: str = "",
        source: str = "",
        license_files: str = "",
        language: str = "",
    ) -> Added:
        """Store one program under the relative name `key`."""
        quoted = quote_path(key)
        digest = hashlib.sha256(contents).digest()
        with _as_corpus_errors(self.partial):
            same = self._one("SELECT id, key FROM program WHERE sha256 = ?", digest)
            origin = self._origin(license, source, license_files, language)
            if same is not None:
                return self._add_alias(quoted, same, origin)
            if self._is_known(quoted):
                self.add_unreadable(key, "another program has this name", contents, source=source)
                return Added.NAME_TAKEN
            row = (quoted, digest, len(contents), suffix, origin)
            insert = (
                "INSERT INTO program (key, sha256, size, suffix, origin) VALUES (?, ?, ?, ?, ?)"
            )
            number = self._sql.execute(insert, row).lastrowid
            assert number is not None
            self._store(number, contents)
        return Added.NEW

    def add_unreadable(self, key: str, reason: str, data: bytes = b"", *, source: str = "") -> None:
        """Record an unreadable input with the reason; very large data is truncated."""
        with _as_corpus_errors(self.partial):
            origin = self._origin("", source, "", "")
            row = (quote_path(key), origin, reason, data[:_KEEP_UNREADABLE])
            self._sql.execute("INSERT OR IGNORE INTO unreadable VALUES (?, ?, ?, ?)", row)

    def add_rows(self, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Insert rows into one of the tables of facts that `corpus` documents."""
        with _as_corpus_errors(self.partial):
            for row in rows:
                marks = ", ".join("?" * len(row))
                self._sql.execute(f"INSERT INTO {table} VALUES ({marks})", row)

    def find_number(self, sha256: str) -> int | None:
        """Return the id of the program with that digest, or None."""
        row = self._one("SELECT id FROM program WHERE sha256 = ?", bytes.fromhex(sha256))
        return None if row is None else int(row[0])

    def package_numbers(self) -> dict[str, int]:
        """Return the id of each package by its name."""
        return dict(self._sql.execute("SELECT name, id FROM package"))

    @property
    def position(self) -> int:
        """The number of input items that an interrupted writer had finished."""
        row = self._one("SELECT position FROM progress WHERE input = ?", self._input)
        return 0 if row is None else int(row[0])

    def advance(self, position: int) -> None:
        """Record that `position` input items are finished; commit once per batch."""
        self._uncommitted += 1
        if self._uncommitted < _COMMIT_PROGRAMS and self._uncommitted_bytes < _COMMIT_BYTES:
            return
        with _as_corpus_errors(self.partial):
            self._flush_pending()
            self._sql.execute("REPLACE INTO progress VALUES (?, ?)", (self._input, position))
            self._sql.commit()
        self._uncommitted = self._uncommitted_bytes = 0

    @property
    def count(self) -> int:
        """The number of programs stored so far."""
        row = self._one("SELECT count(*) FROM program")
        assert row is not None
        return int(row[0])

    @contextmanager
    def _hold(self) -> Generator[None]:
        with hold(self.path), as_dataset_errors(f"cannot write {self.path}"):
            self._prepare()
            self._sql = sqlite3.connect(self.partial)
            try:
                with _as_corpus_errors(self.partial):
                    self._open()
                yield
                with _as_corpus_errors(self.partial):
                    self._finish()
            except BaseException:
                self._keep()
                raise
            finally:
                self._sql.close()
            self.partial.replace(self.path)

    def _prepare(self) -> None:
        if self.partial.exists() and not self._can_go_on():
            self._discard()
        if not self.partial.exists() and _holds_programs(self.path):
            copy = self.partial.with_suffix(".copy")
            shutil.copyfile(self.path, copy)
            copy.replace(self.partial)

    def _open(self) -> None:
        # Only the final rename makes the file visible, so a crash of the machine can lose
        # a partial file, never a complete one.
        self._sql.execute("PRAGMA synchronous = NORMAL")
        self._sql.executescript(f"BEGIN; {_SCHEMA} COMMIT;")
        self._set_meta()
        self._find_dictionary()

    def _can_go_on(self) -> bool:
        """Return whether an interrupted writer of the same input left a readable file."""
        query = "SELECT 1 FROM progress WHERE input = ?"
        try:
            with closing(sqlite3.connect(self.partial)) as sql:
                return sql.execute(query, (self._input,)).fetchone() is not None
        except sqlite3.Error:
            return False

    def _set_meta(self) -> None:
        stored = dict(self._sql.execute("SELECT key, value FROM meta"))
        if int(stored.get("format", CORPUS_FORMAT)) != CORPUS_FORMAT:
            raise DatasetInitError(
                f"{self.path} has corpus format {stored['format']}; "
                f"this library writes {CORPUS_FORMAT}"
            )
        new = {key: value for key, value in self._meta.items() if value}
        new["name"] = BenchmarkUri.from_string(self._meta["name"]).dataset_name
        rows = ({"format": str(CORPUS_FORMAT)} | self._meta | stored | new).items()
        self._sql.executemany("REPLACE INTO meta VALUES (?, ?)", rows)
        self._sql.commit()

    def _find_dictionary(self) -> None:
        row = self._one("SELECT id, data FROM dictionary ORDER BY id DESC LIMIT 1")
        if row is not None:
            self._dictionary = int(row[0])
            self._compress = _compressor(row[1])
        elif self.count >= _TRAIN_PROGRAMS:
            self._compress = _compressor(None)

    def _add_alias(self, key: str, same: tuple[Any, ...], origin: int) -> Added:
        if same[1] == key:
            return Added.ALREADY_THERE
        insert = "INSERT OR IGNORE INTO alias VALUES (?, ?, ?)"
        alias = self._one("SELECT program FROM alias WHERE key = ?", key)
        if alias is not None and alias[0] == same[0]:
            return Added.ALREADY_THERE
        if alias is None and not self._is_known(key):
            self._sql.execute(insert, (key, same[0], origin))
        return Added.DUPLICATE

    def _is_known(self, key: str) -> bool:
        query = "SELECT 1 FROM program WHERE key = ? UNION ALL SELECT 1 FROM alias WHERE key = ?"
        return self._sql.execute(query, (key, key)).fetchone() is not None

    def _origin(self, *parts: str) -> int:
        if parts not in self._origins:
            clean = tuple(part.encode("utf-8", "replace").decode() for part in parts)
            columns = "license, source, license_files, language"
            insert = f"INSERT OR IGNORE INTO origin ({columns}) VALUES (?, ?, ?, ?)"
            self._sql.execute(insert, clean)
            row = self._sql.execute(
                f"SELECT id FROM origin WHERE ({columns}) = (?, ?, ?, ?)", clean
            ).fetchone()
            if len(self._origins) > 10_000:
                self._origins.clear()
            self._origins[parts] = int(row[0])
        return self._origins[parts]

    def _store(self, number: int, contents: bytes) -> None:
        self._uncommitted_bytes += len(contents)
        if self._compress is not None:
            self._write(number, contents)
            return
        self._pending.append((number, contents))
        self._pending_bytes += len(contents)
        if len(self._pending) >= _TRAIN_PROGRAMS or self._pending_bytes >= _TRAIN_BYTES:
            self._flush_pending()

    def _flush_pending(self) -> None:
        """Train the dictionary on the pending programs, if there is none yet, and write them."""
        if self._compress is None and self._pending:
            data = _train([contents for _, contents in self._pending])
            self._compress = _compressor(data)
            if data is not None:
                insert = "INSERT INTO dictionary (data) VALUES (?)"
                self._dictionary = int(self._sql.execute(insert, (data,)).lastrowid or 0)
        for number, contents in self._pending:
            self._write(number, contents)
        self._pending.clear()
        self._pending_bytes = 0

    def _write(self, number: int, contents: bytes) -> None:
        compress = self._compress or _compressor(None)
        row = (number, self._dictionary, compress(contents))
        self._sql.execute("INSERT INTO content VALUES (?, ?, ?)", row)

    def _finish(self) -> None:
        self._flush_pending()
        if self.count == 0:
            raise DatasetInitError(f"no programs to store in {self.path}")
        self._sql.execute("DELETE FROM progress")
        self._sql.execute("REPLACE INTO meta VALUES ('programs', ?)", (str(self.count),))
        self._sql.commit()
        # Wait for the disk, so that the rename cannot become visible before the data.
        self._sql.executescript("PRAGMA synchronous = FULL; ANALYZE;")
        with self.partial.open("rb") as file:
            os.fsync(file.fileno())

    def _keep(self) -> None:
        """Keep the committed batches; remove the file if there are none."""
        try:
            self._sql.rollback()
            useless = self.position == 0
        except sqlite3.Error:
            useless = True
        if useless:
            self._sql.close()
            self._discard()

    def _discard(self) -> None:
        # SQLite would roll back a leftover journal into the next file of this name.
        journal = self.partial.with_name(f"{self.partial.name}-journal")
        journal.unlink(missing_ok=True)
        self.partial.unlink(missing_ok=True)

    def _one(self, query: str, *values: Any) -> tuple[Any, ...] | None:
        return self._sql.execute(query, values).fetchone()


def _holds_programs(path: Path) -> bool:
    """Return whether the corpus `path` has programs, so that an import adds to it."""
    if not path.exists():
        return False
    try:
        with closing(
            sqlite3.connect(f"file:{quote_path(str(path.absolute()))}?mode=ro", uri=True)
        ) as sql:
            return sql.execute("SELECT 1 FROM meta JOIN program LIMIT 1").fetchone() is not None
    except sqlite3.DatabaseError as error:
        # A damaged corpus is not discarded: writing to it raises an error with advice.
        return "malformed" in str(error)


def _train(samples: list[bytes]) -> bytes | None:
    from compiler_gym.datasets.fetching import zstd

    cut = [sample[:_SAMPLE_BYTES] for sample in samples if len(sample) >= 8]
    if len(cut) < _TRAIN_AT_LEAST:
        return None
    try:
        return zstd.train_dict(cut, _DICTIONARY_BYTES).dict_content
    except zstd.ZstdError:
        # Training fails if the samples have nothing in common.
        return None


def _compressor(dictionary: bytes | None) -> Callable[[bytes], bytes]:
    from compiler_gym.datasets.fetching import zstd

    options: dict[int, int] = {
        zstd.CompressionParameter.compression_level: _LEVEL,
        zstd.CompressionParameter.checksum_flag: True,
        zstd.CompressionParameter.dict_id_flag: False,
    }
    trained = None if dictionary is None else zstd.ZstdDict(dictionary)
    return partial(zstd.compress, options=options, zstd_dict=trained)


@contextmanager
def _as_corpus_errors(path: Path) -> Generator[None]:
    try:
        yield
    except sqlite3.Error as error:
        damaged = any(word in str(error) for word in ("malformed", "not a database"))
        advice = (
            "the corpus is damaged; run `compiler-gym datasets remove`, then import it again"
            if damaged
            else "check the free space on its disk, or remove the file"
        )
        raise DatasetInitError(f"cannot write {path}: {error}; {advice}") from error
