# SPDX-License-Identifier: MIT
"""Log steps and observations to a SQLite file, in the process and thread of each step."""

import os
import sqlite3
import time
import uuid
import zlib
from hashlib import blake2b
from pathlib import Path
from typing import Any

from compiler_gym.errors import CompilerError, RecordingError, ServiceError
from compiler_gym.files import make_folder
from compiler_gym.spaces import space_name
from compiler_gym.wrappers.layers import Environment, Lasting, State
from compiler_gym.wrappers.recording import (
    EpisodeRecord,
    EpisodeStream,
    StepRecord,
    require_json,
    write_json_text,
)

_Row = tuple[Any, ...]
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
        self._run.flush()

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
        self._log(StepRecord([], None, False, False, False, None, episode.observation))

    def step_taken(self, step: StepRecord) -> None:
        """Log a step, unless it has no actions."""
        if step.actions:
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
        outcome = earned, step.terminated, step.truncated, step.error, state
        self._run.add((str(self.benchmark), write_json_text(step.actions), *outcome))
        is_late = time.monotonic() - self._run.written > self._seconds
        if is_late or len(self._run.pending) >= self._most:
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
        self.episode = 0
        """The number of the current episode."""
        self.written = time.monotonic()
        """The time of the last write, on the monotonic clock."""
        self._begin([])

    def _begin(self, rows: list[_Row]) -> None:
        self._name, self._process = uuid.uuid4().hex, os.getpid()
        self._current = list(rows)
        """The rows of the current episode."""
        self.pending = list(rows)
        """The rows that are not written yet."""
        self.observations: dict[tuple[str, str], bytes] = {}
        """The pending observations, by state and space."""

    def begin_episode(self) -> None:
        """Advance to the next episode."""
        if self._process != os.getpid():  # forked: the parent writes the rows so far
            self._begin([])
        self.episode += 1
        self._current = []

    def add(self, row: _Row) -> None:
        """Add the row of a step, without the numbers of the episode and the step."""
        row = (self.episode, len(self._current), *row)
        self._current.append(row)
        self.pending.append(row)

    def __getstate__(self) -> State:
        """Write the pending rows, because a copy lacks their observations."""
        self.flush()
        return dict(vars(self))

    def __setstate__(self, state: State) -> None:
        vars(self).update(state)
        self._begin(self._current)

    def flush(self) -> None:
        """Write the pending rows; raise `RecordingError` if that fails."""
        self.written = time.monotonic()
        try:
            with make_folder(self.path.parent):
                database = sqlite3.connect(self.path, timeout=60.0, isolation_level="IMMEDIATE")
            try:  # threads and processes cannot share connections
                database.executescript(_SCHEMA)
                with database:
                    seen = [(*key, value) for key, value in self.observations.items()]
                    database.executemany(
                        "INSERT OR IGNORE INTO Observations VALUES (?, ?, ?)", seen
                    )
                    rows = [(self._name, *row) for row in self.pending]
                    marks = ", ".join("?" * 10)
                    database.executemany(f"INSERT INTO Steps VALUES ({marks})", rows)
            finally:
                database.close()
        except (OSError, sqlite3.Error) as error:
            raise RecordingError(f"cannot log to {self.path}: {error}") from error
        self.pending, self.observations = [], {}
