# SPDX-License-Identifier: MIT
"""Steps and states are in the database."""

import json
import sqlite3
import zlib
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.errors import RecordingError
from compiler_gym.testing import FakeEnv
from compiler_gym.wrappers import SynchronousSqliteLogger

ADD, DOUBLE = 0, 1


def rows(path: Path, query: str) -> list[Any]:
    with sqlite3.connect(path) as database:
        return database.execute(query).fetchall()


def test_every_step_is_a_row_and_every_state_is_kept_once(env: FakeEnv, tmp_path: Path) -> None:
    path = tmp_path / "new" / "log.db"
    logged = SynchronousSqliteLogger(env, path)
    for _ in range(2):
        logged.reset(benchmark="fake-v0/7")
        logged.step(ADD)
        logged.multistep([DOUBLE, ADD])
        logged.multistep([])
    logged.close()
    steps = rows(path, "SELECT episode, step, actions, reward, state FROM Steps ORDER BY 1, 2")
    assert steps[:3] == [
        (1, 0, "[]", None, "7"),
        (1, 1, "[0]", -1.0, "8"),
        (1, 2, "[1, 0]", -9.0, "17"),
    ]
    assert len(steps) == 6
    states = dict(rows(path, "SELECT state, value FROM Observations"))
    assert json.loads(zlib.decompress(states["17"])) == [[17, 289, 1]]
    assert set(states) == {"7", "8", "17"}


def test_rows_are_written_when_there_are_enough(env: FakeEnv, tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    logged = SynchronousSqliteLogger(env, path, max_step_buffer_length=2)
    logged.reset()
    assert rows(path, "SELECT * FROM Steps") == []
    logged.step(ADD)
    assert len(rows(path, "SELECT * FROM Steps")) == 2
    logged.step(ADD)
    logged.flush()
    assert len(rows(path, "SELECT * FROM Steps")) == 3


def test_a_crash_is_logged(make_env: Any, tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    logged = SynchronousSqliteLogger(make_env(action_space="Behaviours"), path)
    logged.reset()
    logged.step(logged.action_space["segfault"])
    logged.close()
    ((error, state),) = rows(path, "SELECT error, state FROM Steps WHERE truncated")
    assert "SIGSEGV" in error
    assert state is None


def test_a_fork_is_a_run_of_its_own(env: FakeEnv, tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    logged = SynchronousSqliteLogger(env, path)
    logged.reset()
    logged.step(ADD)
    with logged.fork() as fork:
        fork.step(DOUBLE)
    logged.close()
    assert sorted(rows(path, "SELECT count(*) FROM Steps GROUP BY run")) == [(2,), (3,)]


def test_a_file_that_is_no_database_is_reported(env: FakeEnv, tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    path.write_text("no database " * 100)
    with pytest.raises(RecordingError, match=r"log\.db"):
        SynchronousSqliteLogger(env, path)
