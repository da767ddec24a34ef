# SPDX-License-Identifier: MIT
"""Known states: in memory, where the least recently used ones make room, and in a shared file.

In the file, writes are collected and made in batches. It and its write-ahead log together stay
within the capacity: three quarters are for rows, the rest for the log and the growth of one batch.
The oldest rows are dropped first; a file that was larger does not shrink.

Each row has a checksum, because SQLite has none: damaged rows are ignored and written again. If
the file becomes unwritable, the cache warns once and stops writing, which costs only speed.
"""

import ctypes
import sqlite3
import time
import warnings
import zlib
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec

from compiler_gym.errors import CacheError
from compiler_gym.files import Lock, make_folder

_ENTRY_BYTES = 500
"""Approximate size of a state without its observations."""
_TRANSITION_BYTES = 250


class Transition(NamedTuple):
    """The effect of an action on a state."""

    state: bytes
    """The resulting state."""
    no_effect: bool
    """True if the session reported that the action had no effect."""
    end: bool
    """True if it ends the episode."""


@dataclass(slots=True)
class _State:
    transitions: dict[object, Transition] = field(default_factory=dict[object, Transition])
    observations: dict[str, Any] = field(default_factory=dict[str, Any])
    size: int = _ENTRY_BYTES


class Memory:
    """States with their transitions and observations, up to about `capacity` bytes."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._states: OrderedDict[bytes, _State] = OrderedDict()
        self.size = 0
        """Approximate number of bytes held."""

    def __len__(self) -> int:
        return len(self._states)

    def transition(self, state: bytes, action: object) -> Transition | None:
        """Return the known transition of `action` in `state`, or None."""
        entry = self._states.get(state)
        if entry is None:
            return None
        self._states.move_to_end(state)
        return entry.transitions.get(action)

    def observations(self, state: bytes) -> dict[str, Any]:
        """Return the known observations of `state` by name; do not modify the result."""
        entry = self._states.get(state)
        return {} if entry is None else entry.observations

    def add_transition(self, state: bytes, action: object, transition: Transition) -> None:
        """Remember a transition."""
        entry = self._state(state)
        if action not in entry.transitions:
            self._grow(entry, _TRANSITION_BYTES)
        entry.transitions[action] = transition
        self._shrink()

    def add_observation(self, state: bytes, name: str, value: object) -> None:
        """Remember an observation."""
        entry = self._state(state)
        if name not in entry.observations:
            self._grow(entry, estimate_size(value))
            entry.observations[name] = value
            self._shrink()

    def _state(self, state: bytes) -> _State:
        entry = self._states.get(state)
        if entry is None:
            entry = self._states[state] = _State()
            self.size += entry.size
        else:
            self._states.move_to_end(state)
        return entry

    def _grow(self, entry: _State, size: int) -> None:
        entry.size += size
        self.size += size

    def _shrink(self) -> None:
        while self.size > self._capacity and self._states:
            self.size -= self._states.popitem(last=False)[1].size


def estimate_size(value: object) -> int:
    """Return the approximate size of a plain value in bytes.

    >>> estimate_size(b"x" * 1000) > estimate_size(1)
    True
    """
    if isinstance(value, (bytes, str)):
        return 100 + len(value)
    if isinstance(value, dict):
        return 100 + sum(
            100 + estimate_size(item) for item in cast("dict[str, Any]", value).values()
        )
    if isinstance(value, (list, tuple)):
        return 100 + sum(map(estimate_size, cast("list[Any]", value)))
    return 100


_CACHE_TABLES = """
DROP TABLE IF EXISTS transitions;
DROP TABLE IF EXISTS observations;
CREATE TABLE IF NOT EXISTS checked_transitions (
  state BLOB NOT NULL, action BLOB NOT NULL, next BLOB NOT NULL, no_effect INTEGER NOT NULL,
  end INTEGER NOT NULL, checksum INTEGER NOT NULL, PRIMARY KEY (state, action));
CREATE TABLE IF NOT EXISTS checked_observations (
  state BLOB NOT NULL, name TEXT NOT NULL, value BLOB NOT NULL, checksum INTEGER NOT NULL,
  PRIMARY KEY (state, name));
"""
"""Earlier versions stored rows without a checksum; these are dropped."""
_TABLES = ("checked_transitions", "checked_observations")
_BATCH_ROWS = 500
_BATCH_SECONDS = 1.0
_BATCH_BYTES = _LOG_BYTES = 4 << 20
"""Bounds of a batch (rows, age and bytes) and of the log."""
_ROW_BYTES = 100
_PAGE_BYTES = 4096
_UNUSABLE = (OSError, sqlite3.Error, UnicodeDecodeError)
"""SQLite raises the last one if its message quotes a name from a damaged file."""
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder().decode


class Disk:
    """The interface of `Memory` over the file `path` of about `capacity` bytes, log included.

    Observations larger than a sixteenth of the capacity are not written.
    """

    def __init__(self, path: Path, capacity: int) -> None:
        self.path = path
        self._capacity = capacity
        self._database: sqlite3.Connection | None = None
        self._log = path.with_name(f"{path.name}-wal")
        self._transitions: list[tuple[object, ...]] = []
        self._observations: list[tuple[object, ...]] = []
        self._waiting_bytes = 0
        self._flushed = time.monotonic()
        self._broken = False
        try:
            self._open()
        except _UNUSABLE as error:
            raise CacheError(f"cannot use {path} as a cache: {error}") from error

    def transition(self, state: bytes, action: object) -> Transition | None:
        """Return the known transition of `action` in `state`, or None."""
        query = "SELECT next, no_effect, end, checksum FROM checked_transitions"
        row = self._fetch(f"{query} WHERE state = ? AND action = ?", (state, _encode(action)))
        return None if row is None else Transition(row[0], bool(row[1]), bool(row[2]))

    def observation(self, state: bytes, name: str) -> tuple[Any] | None:
        """Return the observation `name` of `state` in a tuple, or None."""
        query = "SELECT value, checksum FROM checked_observations WHERE state = ? AND name = ?"
        row = self._fetch(query, (state, name))
        return None if row is None else (_decode(row[0]),)

    def add_transition(self, state: bytes, action: object, transition: Transition) -> None:
        """Remember a transition."""
        row = (state, _encode(action), *transition)
        self._transitions.append((*row, _checksum_row(row)))
        self._flush_if_due(_ROW_BYTES + len(state) + len(row[1]) + len(transition.state))

    def add_observation(self, state: bytes, name: str, value: object) -> None:
        """Remember an observation."""
        encoded = _encode(value)
        if len(encoded) <= self._capacity // 16:
            row = (state, name, encoded)
            self._observations.append((*row, _checksum_row(row)))
            self._flush_if_due(_ROW_BYTES + len(state) + len(encoded))

    def flush(self) -> None:
        """Write pending rows."""
        self._flushed, self._waiting_bytes = time.monotonic(), 0
        transitions, self._transitions = self._transitions, []
        observations, self._observations = self._observations, []
        if self._broken or not (transitions or observations):
            return
        try:
            # One process at a time: the log is never emptied while others write.
            with Lock(self.path.with_name(f"{self.path.name}-lock")):
                self._write(transitions, observations)
        except _UNUSABLE as error:
            self._give_up(error)

    def close(self) -> None:
        """Write pending rows and close the file."""
        self.flush()
        database, self._database = self._database, None
        if database is not None:
            database.close()

    def after_fork(self) -> None:
        """Forget, in a forked process, the parent's rows and its connection."""
        database, self._database = self._database, None
        if database is not None:  # SQLite forbids even closing it here, so it is never collected
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(database))
        self._transitions, self._observations, self._waiting_bytes = [], [], 0

    def _open(self) -> sqlite3.Connection:
        """Return this process's connection."""
        if self._database is None:
            with make_folder(self.path.parent):
                database = sqlite3.connect(self.path, timeout=30.0, check_same_thread=False)
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = OFF")
            database.executescript(_CACHE_TABLES)
            self._database = database
        return self._database

    def _write(
        self, transitions: list[tuple[object, ...]], observations: list[tuple[object, ...]]
    ) -> None:
        database = self._open()
        with database:
            database.executemany(
                f"INSERT OR REPLACE INTO {_TABLES[0]} VALUES (?, ?, ?, ?, ?, ?)", transitions
            )
            database.executemany(
                f"INSERT OR REPLACE INTO {_TABLES[1]} VALUES (?, ?, ?, ?)", observations
            )
        self._empty_log(database)
        self._make_room(database)

    def _fetch(self, query: str, key: tuple[object, ...]) -> Any:
        """Return the values of a row; None if it is missing or damaged."""
        if self._broken:
            return None
        try:
            row = self._open().execute(query, key).fetchone()
        except _UNUSABLE as error:
            self._give_up(error)
            return None
        return row[:-1] if row and row[-1] == _checksum_row((*key, *row[:-1])) else None

    def _flush_if_due(self, size: int) -> None:
        self._waiting_bytes += size
        rows = len(self._transitions) + len(self._observations)
        most_bytes = min(_BATCH_BYTES, self._capacity // 64)
        is_much = rows >= _BATCH_ROWS or self._waiting_bytes >= most_bytes
        if is_much or time.monotonic() - self._flushed > _BATCH_SECONDS:
            self.flush()

    def _make_room(self, database: sqlite3.Connection) -> None:
        """Drop the oldest rows, in portions that fit into the log."""
        most = self._capacity * 3 // 4
        if _used(database) <= most:
            return
        while _used(database) > most * 7 // 8:
            spans = {table: _span(database, table) for table in _TABLES}
            longest = max(last - first + 1 for first, last in spans.values())
            if longest == 0:
                return
            share = min(1 / 16, self._capacity / 64 / _PAGE_BYTES / longest)
            with database:
                for table, (first, last) in spans.items():
                    end = first + int((last - first) * share)
                    database.execute(f"DELETE FROM {table} WHERE rowid <= ?", (end,))
            self._empty_log(database)

    def _empty_log(self, database: sqlite3.Connection) -> None:
        """Checkpoint the log into the file once it is long."""
        longest = min(_LOG_BYTES, self._capacity // 32)
        if self._log.exists() and self._log.stat().st_size > longest:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def _give_up(self, error: Exception) -> None:
        if not self._broken:
            self._broken = True
            warnings.warn(
                f"the cache {self.path} is no longer used: {error}", RuntimeWarning, stacklevel=4
            )


def _checksum_row(row: tuple[object, ...]) -> int:
    """Return the checksum of a row; a bool counts as an integer, as in SQLite."""
    return zlib.crc32(_encode([int(value) if isinstance(value, bool) else value for value in row]))


def _used(database: sqlite3.Connection) -> int:
    """Return the number of bytes that the rows take."""
    pages = database.execute("PRAGMA page_count").fetchone()[0]
    free = database.execute("PRAGMA freelist_count").fetchone()[0]
    return (pages - free) * database.execute("PRAGMA page_size").fetchone()[0]


def _span(database: sqlite3.Connection, table: str) -> tuple[int, int]:
    """Return the first and last row id, or (1, 0) for an empty table."""
    query = f"SELECT (SELECT min(rowid) FROM {table}), (SELECT max(rowid) FROM {table})"
    first, last = database.execute(query).fetchone()
    return (first, last) if first is not None else (1, 0)
