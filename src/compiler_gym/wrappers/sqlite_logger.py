# SPDX-License-Identifier: MIT
"""Logs steps and what was observed to a SQLite file, in the process and thread that steps."""

import os
import sqlite3
import time
import uuid
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar

from compiler_gym.errors import CompilerError, RecordingError, ServiceError
from compiler_gym.spaces import to_plain
from compiler_gym.wrappers._recording import json_of, require_json
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

    A step names the state it led to: a hash of the program, and after a colon one of what was
    observed, if anything was. ``Observations`` holds each state once: JSON of what `step`
    returned, compressed with zlib. The first row of an episode is its reset: step 0, without
    actions. Rows are written together, after `max_step_buffer_length` steps or
    `commit_frequency_in_seconds`, and by `flush` and `close`. Several loggers may share a file.
    Each fork and pickled copy is a run of its own that starts with the steps so far. A step that
    was undone stays.

    Raises `RecordingError` when the file cannot be written, or when what is observed has no
    JSON form.
    """

    not_undone: ClassVar[frozenset[str]] = frozenset({"_at", "_steps", "_observations", "_written"})

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
        self._at = (0, 0)
        self._written = time.monotonic()
        self._begin_run()
        if self._key is not None:
            require_json(self.observation_space)
        self._guarded(self._check)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None, **arguments: Any
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode and log its first observation."""
        observation, info = super().reset(seed=seed, options=options, **arguments)
        if self._process != os.getpid():  # forked: the rows so far are the parent's to write
            self._begin_run()
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
            value = json_of(self.observation_space.to_jsonable([seen])).encode()
            state = f"{state}:{blake2b(value, digest_size=8).hexdigest()}"
            name = str(getattr(self.observation_space, "name", "observation"))
            self._observations[state, name] = zlib.compress(value)
        self._steps.append(
            (
                self._run,
                *self._at,
                str(self._of("benchmark").uri),
                json_of(actions),
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

    @property
    def _key(self) -> str | None:
        """The observation that identifies the program: its hash, if the environment has one."""
        return getattr(self.unwrapped, "state_observation", None)

    def _state_now(self) -> str | None:
        if not self.in_episode or self._key is None:
            return None
        try:
            return str(self._of("observation")[self._key])
        except (CompilerError, ServiceError):
            return None  # the next step reports what happened to the compiler

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except (OSError, sqlite3.Error) as error:
            raise RecordingError(f"cannot log to {self.db_path}: {error}") from error

    def _begin_run(self) -> None:
        self._run, self._process = uuid.uuid4().hex, os.getpid()
        self._steps: list[tuple[Any, ...]] = []
        self._observations: dict[tuple[str, str], bytes] = {}

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection]:
        """Open the file for one transaction: a connection stays in its thread and process."""
        self.db_path.parent.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(self.db_path, timeout=60.0, isolation_level="IMMEDIATE")
        try:
            database.executescript(_SCHEMA)
            with database:
                yield database
        finally:
            database.close()

    def _check(self) -> None:
        with self._database():
            pass

    def _write(self) -> None:
        if not self._steps:
            return
        with self._database() as database:
            rows = [(*key, value) for key, value in self._observations.items()]
            database.executemany("INSERT OR IGNORE INTO Observations VALUES (?, ?, ?)", rows)
            marks = ", ".join("?" * len(self._steps[0]))
            database.executemany(f"INSERT INTO Steps VALUES ({marks})", self._steps)
        self._steps, self._observations = [], {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Write what is not yet written, so that the copy's run can start with it."""
        self.flush()
        return super().__reduce__()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._leave_run()

    def _fork_around(self, below: Any) -> Any:
        self.flush()
        twin = super()._fork_around(below)
        twin._leave_run()
        return twin

    def _leave_run(self) -> None:
        """Begin a run that starts with the steps of the episode so far."""
        left = self._run
        self._begin_run()
        self._guarded(lambda: self._copy_episode(left))

    def _copy_episode(self, run: str) -> None:
        with self._database() as database:
            database.execute(
                "INSERT INTO Steps SELECT ?, episode, step, benchmark, actions, reward, "
                "terminated, truncated, error, state FROM Steps "
                "WHERE run = ? AND episode = ? AND step <= ?",
                (self._run, run, *self._at),
            )
