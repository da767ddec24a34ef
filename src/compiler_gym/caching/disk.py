# SPDX-License-Identifier: MIT
"""Known states in a SQLite file that processes share.

Writes are collected and made together. A file that cannot be written any more costs
nothing but speed: a warning says so, once, and nothing more is written.
"""

import os
import sqlite3
import time
import warnings
from pathlib import Path
from typing import Any

import msgspec

from compiler_gym.caching.memory import Transition
from compiler_gym.errors import CacheError

__all__ = ["Disk"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS transitions (
  state BLOB NOT NULL, action BLOB NOT NULL, next BLOB NOT NULL,
  no_effect INTEGER NOT NULL, end INTEGER NOT NULL, PRIMARY KEY (state, action));
CREATE TABLE IF NOT EXISTS observations (
  state BLOB NOT NULL, name TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY (state, name));
"""
_BATCH = 500
_SECONDS = 1.0
"""How many rows, and for how long, wait to be written."""
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder().decode


class Disk:
    """The same as `Memory`, in the file `path` of at most about `capacity` bytes."""

    def __init__(self, path: Path, capacity: int) -> None:
        self.path = path
        self._capacity = capacity
        self._database: sqlite3.Connection | None = None
        self._owner = 0
        self._transitions: list[tuple[Any, ...]] = []
        self._observations: list[tuple[Any, ...]] = []
        self._flushed = time.monotonic()
        self._broken = False
        try:
            self._open()
        except (OSError, sqlite3.Error) as error:
            raise CacheError(f"cannot use {path} as a cache: {error}") from error

    def transition(self, state: bytes, action: Any) -> Transition | None:
        """Return what is known of `action` in `state`."""
        query = "SELECT next, no_effect, end FROM transitions WHERE state = ? AND action = ?"
        row = self._fetch(query, (state, _encode(action)))
        return None if row is None else Transition(row[0], bool(row[1]), bool(row[2]))

    def observation(self, state: bytes, name: str) -> tuple[Any] | None:
        """Return what was observed in `state` under `name`, as the only item, or None."""
        query = "SELECT value FROM observations WHERE state = ? AND name = ?"
        row = self._fetch(query, (state, name))
        return None if row is None else (_decode(row[0]),)

    def add_transition(self, state: bytes, action: Any, transition: Transition) -> None:
        """Remember a transition."""
        self._transitions.append((state, _encode(action), *transition))
        self._flush_if_due()

    def add_observation(self, state: bytes, name: str, value: Any) -> None:
        """Remember an observation."""
        self._observations.append((state, name, _encode(value)))
        self._flush_if_due()

    def flush(self) -> None:
        """Write what waits to be written."""
        self._flushed = time.monotonic()
        transitions, self._transitions = self._transitions, []
        observations, self._observations = self._observations, []
        if self._broken or not (transitions or observations):
            return
        try:
            with self._open() as database:
                database.executemany(
                    "INSERT OR IGNORE INTO transitions VALUES (?, ?, ?, ?, ?)", transitions
                )
                database.executemany(
                    "INSERT OR IGNORE INTO observations VALUES (?, ?, ?)", observations
                )
            self._make_room()
        except (OSError, sqlite3.Error) as error:
            self._give_up(error)

    def close(self) -> None:
        """Write the rest and close the file."""
        self.flush()
        database, self._database = self._database, None
        if database is not None and self._owner == os.getpid():
            database.close()

    def _open(self) -> sqlite3.Connection:
        """Return this process's connection: one must not be carried through a fork."""
        if self._database is None or self._owner != os.getpid():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            database = sqlite3.connect(self.path, timeout=30.0, check_same_thread=False)
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = OFF")
            database.executescript(_SCHEMA)
            self._database, self._owner = database, os.getpid()
        return self._database

    def _fetch(self, query: str, arguments: tuple[Any, ...]) -> Any:
        if self._broken:
            return None
        try:
            return self._open().execute(query, arguments).fetchone()
        except (OSError, sqlite3.Error) as error:
            self._give_up(error)
            return None

    def _flush_if_due(self) -> None:
        waiting = len(self._transitions) + len(self._observations)
        if waiting >= _BATCH or time.monotonic() - self._flushed > _SECONDS:
            self.flush()

    def _make_room(self) -> None:
        """Drop the older half of the rows when the file has passed its capacity."""
        database = self._open()
        pages = database.execute("PRAGMA page_count").fetchone()[0]
        free = database.execute("PRAGMA freelist_count").fetchone()[0]
        page_bytes = database.execute("PRAGMA page_size").fetchone()[0]
        if (pages - free) * page_bytes <= self._capacity:
            return
        with database:
            for table in ("transitions", "observations"):
                database.execute(
                    f"DELETE FROM {table} WHERE rowid <= "
                    f"(SELECT (min(rowid) + max(rowid)) / 2 FROM {table})"
                )

    def _give_up(self, error: Exception) -> None:
        if not self._broken:
            self._broken = True
            warnings.warn(
                f"the cache {self.path} is no longer used: {error}", RuntimeWarning, stacklevel=4
            )
