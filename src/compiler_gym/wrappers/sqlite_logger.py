# SPDX-License-Identifier: MIT
"""Log steps and observations to a SQLite file, in the process and thread of each step."""

import os
import sqlite3
import time
import uuid
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

from compiler_gym.errors import CompilerError, RecordingError, ServiceError
from compiler_gym.files import make_folder
from compiler_gym.spaces import space_name
from compiler_gym.wrappers._below import Environment
from compiler_gym.wrappers._recording import (
    EpisodeRecord,
    EpisodeStream,
    StepRecord,
    require_json,
    write_json_text,
)
from compiler_gym.wrappers.copying import Lasting, State

__all__ = ["SynchronousSqliteLogger"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS Steps (
  run TEXT NOT NULL, episode INTEGER NOT NULL, step INTEGER NOT NULL,
  benchmark TEXT NOT NULL, actions TEXT NOT NULL, reward REAL,
  terminated INTEGER NOT NULL, truncated INTEGER NOT NULL, error TEXT, state TEXT,
  PRIMARY KEY (run, episode, step));
CREATE TABLE IF NOT EXISTS Observations (
  state TEXT NOT NULL, space TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY (state, space));
"""


class SynchronousSqliteLogger(EpisodeStream):
    """A wrapper that logs to the tables ``Steps`` and ``Observations`` of `db_path`.

    Each step names its resulting state: a hash of the program, followed by a colon and a hash of
    the observation if there is one. ``Observations`` holds each state once, as JSON compressed with
    zlib. The first row of an episode is its reset: step 0, without actions. Rows are written
    together, after `max_step_buffer_length` steps or `commit_frequency_in_seconds`, and by `flush`
    and `close`. Several loggers may share a file. Each fork and pickled copy is a separate run,
    which starts with the steps so far. Undone steps stay in the log.

    Raises `RecordingError` if the file cannot be written, or an observation has no JSON form.
    """

    def __init__(
        self,
        env: Environment,
        db_path: str | Path,
        commit_frequency_in_seconds: float = 300,
        max_step_buffer_length: int = 5000,
    ) -> None:
        super().__init__(env)
        self._run = _Run(Path(db_path).expanduser())
        self._seconds = commit_frequency_in_seconds
        self._most = max_step_buffer_length
        if self._key is not None:
            require_json(self.observation_space)
        self._run.check()

    @property
    def db_path(self) -> Path:
        """The file."""
        return self._run.path

    @db_path.setter
    def db_path(self, value: str | Path) -> None:
        self._run.path = Path(value)

    def episode_started(self, episode: EpisodeRecord) -> None:
        """Log the first observation of an episode."""
        self._run.begin_episode()
        self._log(
            StepRecord(
                [],
                None,
                terminated=False,
                truncated=False,
                no_effect=False,
                error=None,
                observation=episode.observation,
            )
        )

    def step_taken(self, step: StepRecord) -> None:
        """Log a step, unless it has no actions."""
        if step.actions:
            self._run.begin_step()
            self._log(step)

    def flush(self) -> None:
        """Write the pending rows; raise `RecordingError` if that fails."""
        self._run.flush()

    def close(self) -> None:
        """Write the pending rows and close the environment."""
        try:
            self.flush()
        finally:
            super().close()

    def _log(self, step: StepRecord) -> None:
        state = self._state_now()
        if state is not None and step.observation is not None:
            value = write_json_text(step.observation).encode()
            state = f"{state}:{blake2b(value, digest_size=8).hexdigest()}"
            name = space_name(self.observation_space) or "observation"
            self._run.observations[state, name] = zlib.compress(value)
        earned = sum(step.reward) if isinstance(step.reward, list) else step.reward
        row = (
            str(self.benchmark), write_json_text(step.actions), earned, step.terminated,
            step.truncated, step.error, state,
        )  # fmt: skip
        self._run.add(row)
        is_late = time.monotonic() - self._run.written > self._seconds
        if is_late or len(self._run.steps) >= self._most:
            self.flush()

    @property
    def _key(self) -> str | None:
        """The observation that identifies the program, if the environment has one."""
        return getattr(self.unwrapped, "state_observation", None)

    def _state_now(self) -> str | None:
        if not self.episode.has_program or self._key is None:
            return None
        try:
            return str(self.below.observation[self._key])
        except (CompilerError, ServiceError):
            return None  # the next step reports what happened to the compiler


class _Run(Lasting):
    """The rows of one run. A copy is another run that starts with the episode's steps."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._position = (0, 0)
        """The numbers of the episode and the step."""
        self.written = time.monotonic()
        """The time of the last write, on the monotonic clock."""
        self._begin()

    def begin_episode(self) -> None:
        """Advance to the next episode."""
        if self._process != os.getpid():  # forked: the parent writes the rows so far
            self._begin()
        self._position = (self._position[0] + 1, 0)

    def begin_step(self) -> None:
        """Advance to the next step."""
        self._position = (self._position[0], self._position[1] + 1)

    def add(self, row: tuple[Any, ...]) -> None:
        """Add a row for a step, from the columns after its numbers."""
        self.steps.append((self._name, *self._position, *row))

    def flush(self) -> None:
        """Write the pending rows; raise `RecordingError` if that fails."""
        self.written = time.monotonic()
        self._write()

    def check(self) -> None:
        """Raise `RecordingError` if the file cannot be written."""
        with self._database():
            pass

    def __getstate__(self) -> State:
        """Write the pending rows, because the run of the copy starts with them."""
        self.flush()
        return dict(vars(self))

    def __setstate__(self, state: State) -> None:
        vars(self).update(state)
        original = self._name
        self._begin()
        self._copy_episode(original)

    def _begin(self) -> None:
        self._name, self._process = uuid.uuid4().hex, os.getpid()
        self.steps: list[tuple[Any, ...]] = []
        """The pending rows."""
        self.observations: dict[tuple[str, str], bytes] = {}
        """The pending observations, by state and space."""

    @contextmanager
    def _database(self) -> Generator[sqlite3.Connection]:
        """Open the file for one transaction; threads and processes cannot share connections."""
        try:
            with make_folder(self.path.parent):
                database = sqlite3.connect(self.path, timeout=60.0, isolation_level="IMMEDIATE")
            try:
                database.executescript(_SCHEMA)
                with database:
                    yield database
            finally:
                database.close()
        except (OSError, sqlite3.Error) as error:
            raise RecordingError(f"cannot log to {self.path}: {error}") from error

    def _write(self) -> None:
        if not self.steps:
            return
        with self._database() as database:
            rows = [(*key, value) for key, value in self.observations.items()]
            database.executemany("INSERT OR IGNORE INTO Observations VALUES (?, ?, ?)", rows)
            marks = ", ".join("?" * len(self.steps[0]))
            database.executemany(f"INSERT INTO Steps VALUES ({marks})", self.steps)
        self.steps, self.observations = [], {}

    def _copy_episode(self, run: str) -> None:
        with self._database() as database:
            database.execute(
                "INSERT INTO Steps SELECT ?, episode, step, benchmark, actions, reward, "
                "terminated, truncated, error, state FROM Steps "
                "WHERE run = ? AND episode = ? AND step <= ?",
                (self._name, run, *self._position),
            )
