# SPDX-License-Identifier: MIT
"""Steps and states are in the database."""

import json
import os
import pickle
import sqlite3
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compiler_gym.errors import RecordingError
from compiler_gym.spaces import Opaque
from compiler_gym.testing import FakeEnv
from compiler_gym.vector import CompilerVectorEnv
from compiler_gym.wrappers import ActionHistory, ForkOnStep, StepBudget, SynchronousSqliteLogger

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
    assert [(*step[:4], step[4].partition(":")[0]) for step in steps[:3]] == [
        (1, 0, "[]", None, "7"),
        (1, 1, "[0]", -1.0, "8"),
        (1, 2, "[1, 0]", -9.0, "17"),
    ]
    assert len(steps) == 6
    assert [step[4] for step in steps[:3]] == [step[4] for step in steps[3:]]
    states = dict(rows(path, "SELECT state, value FROM Observations"))
    assert set(states) == {step[4] for step in steps}
    assert json.loads(zlib.decompress(states[steps[2][4]])) == [[17, 289, 1]]


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


def test_a_fork_is_a_separate_run(env: FakeEnv, tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    logged = SynchronousSqliteLogger(env, path)
    logged.reset()
    logged.step(ADD)
    with logged.fork() as fork:
        fork.step(DOUBLE)
    logged.close()
    assert sorted(rows(path, "SELECT count(*) FROM Steps GROUP BY run")) == [(2,), (3,)]


def test_a_file_that_is_not_a_database_is_reported(env: FakeEnv, tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    path.write_text("no database " * 100)
    with pytest.raises(RecordingError, match=r"log\.db"):
        SynchronousSqliteLogger(env, path)


SEEN = "SELECT step, value FROM Steps JOIN Observations USING (state) ORDER BY episode, step"


def test_every_step_finds_what_was_observed_then(env: FakeEnv, tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    logged = SynchronousSqliteLogger(ActionHistory(StepBudget(env, 4), 2), path)
    seen = [logged.reset()[0]]
    seen += [logged.step(logged.action_space["nothing"])[0] for _ in range(3)]
    logged.close()
    found = [json.loads(zlib.decompress(value)) for _, value in rows(path, SEEN)]
    assert [item["steps_left"] for item in found] == [[item["steps_left"]] for item in seen]
    assert [item["action_history"] for item in found] == [
        [item["action_history"].tolist()] for item in seen
    ]


def test_rows_of_a_vector_log_to_one_file_and_can_be_forked(make_env: Any, tmp_path: Path) -> None:
    path = tmp_path / "log.db"

    def make() -> Any:
        return SynchronousSqliteLogger(make_env(), path, max_step_buffer_length=2)

    vector = CompilerVectorEnv([make] * 3, max_episode_steps=4)
    vector.reset()
    for _ in range(6):
        vector.step(np.array([ADD, DOUBLE, ADD]))
    fork = vector.fork()
    fork.step(np.array([ADD, DOUBLE, ADD]))
    for each in (fork, vector):
        each.close()
    counts = rows(path, "SELECT count(*) FROM Steps GROUP BY run")
    assert sorted(counts) == [(3,)] * 3 + [(7,)] * 3


def test_a_pickled_copy_is_a_separate_run(env: FakeEnv, tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    logged = SynchronousSqliteLogger(env, path)
    logged.reset()
    logged.step(ADD)
    data = pickle.dumps(logged)
    logged.step(ADD)
    with pickle.loads(data) as copied, pickle.loads(data) as other:
        copied.step(DOUBLE)
        other.multistep([DOUBLE, DOUBLE])
        logged.step(ADD)
        logged.close()
    steps = rows(path, "SELECT group_concat(actions, '') FROM Steps GROUP BY run")
    assert sorted(steps) == [("[][0][0][0]",), ("[][0][1, 1]",), ("[][0][1]",)]


def test_rows_are_never_replaced(env: FakeEnv, tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    logged = SynchronousSqliteLogger(env, path)
    logged.reset()
    logged.flush()
    with sqlite3.connect(path) as database:
        database.execute("UPDATE Steps SET step = 1, actions = 'kept'")
    logged.step(ADD)
    with pytest.raises(RecordingError, match="UNIQUE"):
        logged.close()
    assert rows(path, "SELECT actions FROM Steps") == [("kept",)]


def test_a_forked_process_is_a_separate_run(make_env: Any, tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    logged = SynchronousSqliteLogger(make_env(isolation="in-process"), path)
    logged.reset()
    logged.step(ADD)
    child = os.fork()
    if child == 0:
        try:
            logged.reset()
            logged.multistep([DOUBLE, DOUBLE])
            logged.close()
        finally:
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    logged.reset()
    logged.close()
    steps = rows(path, "SELECT group_concat(actions, '') FROM Steps GROUP BY run")
    assert sorted(steps) == [("[][0][]",), ("[][1, 1]",)]


def test_a_value_without_a_json_form_is_refused(env: FakeEnv, tmp_path: Path) -> None:
    class Graphs(Opaque):
        """Values without a JSON form."""

        def sample(self, mask: None = None, probability: None = None) -> Any:
            return {1, 2}

    path = tmp_path / "log.db"
    env.observation.add_derived_space(
        "graph", "number", lambda _: {1, 2}, space=Graphs("graph", "graph"), default_value=0
    )
    logged = SynchronousSqliteLogger(env, path)
    logged.reset()
    with pytest.raises(RecordingError, match=r"set has no JSON form; .*observation"):
        logged.reset(observation_space="graph")
    logged.close()
    with pytest.raises(RecordingError, match=r"set has no JSON form; .*observation"):
        SynchronousSqliteLogger(env, path)


def test_a_step_that_was_undone_stays_in_the_log(env: FakeEnv, tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    logged: Any = SynchronousSqliteLogger(ForkOnStep(env), path, max_step_buffer_length=2)
    logged.reset()
    logged.step(ADD)
    logged.undo()
    logged.step(DOUBLE)
    logged.close()
    assert rows(path, "SELECT step, actions FROM Steps") == [(0, "[]"), (1, "[0]"), (2, "[1]")]
