# SPDX-License-Identifier: MIT
"""Logs steps and what was observed to a SQLite file, in this process and thread."""

import json
import sqlite3
import time
import uuid
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar

from compiler_gym.errors import CompilerError, RecordingError, ServiceError
from compiler_gym.spaces import to_plain
from compiler_gym.wrappers.recorder import _jsonable
from compiler_gym.wrappers.wrapper import CompilerEnvWrapper, StepResult

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


class SynchronousSqliteLogger(CompilerEnvWrapper):
    """Log to the tables ``Steps`` and ``Observations`` of `db_path`.

    A step names the state it led to: a hash of the program. ``Observations`` holds each
    state once: JSON of what `step` returned, compressed with zlib. The first row of an
    episode is its reset: step 0, without actions. Rows are written together, after
    `max_step_buffer_length` steps or `commit_frequency_in_seconds`, and by `flush` and `close`.
    Each fork is a run of its own that starts with the steps so far.
    """

    left_out: ClassVar[frozenset[str]] = frozenset({"_database"})

    def __init__(
        self,
        env: Any,
        db_path: str | Path,
        commit_frequency_in_seconds: float = 300,
        max_step_buffer_length: int = 5000,
    ) -> None:
        super().__init__(env)
        self.db_path = Path(db_path).expanduser()
        """The file."""
        self._seconds = commit_frequency_in_seconds
        self._most = max_step_buffer_length
        self._database: sqlite3.Connection | None = None
        self._steps: list[tuple[Any, ...]] = []
        self._observations: dict[tuple[str, str], bytes] = {}
        self._run = uuid.uuid4().hex
        self._at = (0, 0)
        self._written = time.monotonic()
        self._guarded(self._open_database)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None, **arguments: Any
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode and log its first observation."""
        observation, info = super().reset(seed=seed, options=options, **arguments)
        self._at = (self._at[0] + 1, 0)
        self._log([], observation, None, False, False, None)
        return observation, info

    def multistep(
        self,
        actions: Iterable[Any],
        observation_spaces: Any = None,
        reward_spaces: Any = None,
        *,
        timeout: float | None = None,
    ) -> StepResult:
        """Apply `actions` and log them; looking without an action is not logged."""
        several = list(actions)
        result = super().multistep(several, observation_spaces, reward_spaces, timeout=timeout)
        if several:
            seen, reward, terminated, truncated, info = result
            self._at = (self._at[0], self._at[1] + 1)
            plain = [to_plain(action) for action in several]
            own_reward = reward if reward_spaces is None else None
            own_view = seen if observation_spaces is None else None
            error = info.get("error_details")
            self._log(plain, own_view, own_reward, terminated, truncated, error)
        return result

    def flush(self) -> None:
        """Write what is not yet written; raise `RecordingError` if the file takes nothing."""
        self._written = time.monotonic()
        self._guarded(self._write)

    def close(self) -> None:
        """Write the rest and close the environment."""
        try:
            self.flush()
            if self._database is not None:
                self._database.close()
                self._database = None
        finally:
            super().close()

    def _log(
        self,
        actions: list[Any],
        seen: Any,
        reward: Any,
        terminated: bool,
        truncated: bool,
        error: str | None,
    ) -> None:
        state = self._state_now()
        if state is not None and seen is not None and self.observation_space is not None:
            value = json.dumps(self.observation_space.to_jsonable([seen]), default=_jsonable)
            name = str(getattr(self.observation_space, "name", "observation"))
            self._observations[state, name] = zlib.compress(value.encode())
        self._steps.append(
            (
                self._run,
                *self._at,
                str(self._of("benchmark").uri),
                json.dumps(actions, default=_jsonable),
                sum(reward) if isinstance(reward, list) else reward,
                terminated,
                truncated,
                error,
                state,
            )
        )
        is_late = time.monotonic() - self._written > self._seconds
        if is_late or len(self._steps) >= self._most:
            self.flush()

    def _state_now(self) -> str | None:
        """Return what identifies the program: its hash, where the environment has one."""
        key = getattr(self.unwrapped, "state_observation", None)
        if not self.in_episode or key is None:
            return None
        try:
            return str(self._of("observation")[key])
        except (CompilerError, ServiceError):
            return None  # the next step reports what happened to the compiler

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except (OSError, sqlite3.Error) as error:
            raise RecordingError(f"cannot log to {self.db_path}: {error}") from error

    def _open_database(self) -> None:
        if self._database is None:
            self.db_path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(self.db_path, timeout=60.0)
            self._database.executescript(_SCHEMA)

    def _write(self) -> None:
        if not self._steps:
            return
        self._open_database()
        assert self._database is not None
        with self._database as database:
            rows = [(*key, value) for key, value in self._observations.items()]
            database.executemany("INSERT OR IGNORE INTO Observations VALUES (?, ?, ?)", rows)
            marks = ", ".join("?" * len(self._steps[0]))
            database.executemany(f"INSERT OR REPLACE INTO Steps VALUES ({marks})", self._steps)
        self._steps, self._observations = [], {}

    def _fork_around(self, below: Any) -> Any:
        self.flush()
        twin = super()._fork_around(below)
        twin._run = uuid.uuid4().hex
        twin._guarded(lambda: twin._copy_episode(self._run))
        return twin

    def _copy_episode(self, run: str) -> None:
        self._open_database()
        assert self._database is not None
        with self._database as database:
            database.execute(
                "INSERT INTO Steps SELECT ?, episode, step, benchmark, actions, reward, "
                "terminated, truncated, error, state FROM Steps WHERE run = ? AND episode = ?",
                (self._run, run, self._at[0]),
            )
