# SPDX-License-Identifier: MIT
"""Episodes are in the file, whole, and a file that takes nothing is reported."""

import json
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.errors import InvalidParameterError, RecordingError
from compiler_gym.testing import FakeEnv, is_running, wait_until, worker_pid
from compiler_gym.wrappers import EpisodeRecorder, TimeLimit

ADD, DOUBLE = 0, 1


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_each_episode_is_one_line(env: FakeEnv, tmp_path: Path) -> None:
    path = tmp_path / "new" / "episodes.jsonl"
    recorded = EpisodeRecorder(env, path)
    for action in (ADD, DOUBLE):
        recorded.reset(benchmark="fake-v0/7", seed=action)
        recorded.step(action)
        recorded.multistep([ADD, ADD])
    assert len(lines(path)) == 1
    recorded.close()
    first, second = lines(path)
    assert first["benchmark"] == "benchmark://fake-v0/7"
    assert first["commandline"] == "add add add"
    assert second["observation"] == [[7, 49, 1]]
    assert [step["actions"] for step in second["steps"]] == [[DOUBLE], [ADD, ADD]]
    assert [step["reward"] for step in second["steps"]] == [-7.0, -2.0]
    assert second["steps"][1]["observation"] == [[16, 256, 1]]
    assert second["seed"] == 1


def test_failures_and_ends_are_recorded(make_env: Any, tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    recorded = EpisodeRecorder(TimeLimit(make_env(action_space="Behaviours"), 1), path)
    for name in ("segfault", "end", "nothing"):
        recorded.reset()
        recorded.step(recorded.action_space[name])
    recorded.close()
    crashed, ended, idle = (episode["steps"][0] for episode in lines(path))
    assert "SIGSEGV" in crashed["error"]
    assert (crashed["truncated"], ended["terminated"], idle["truncated"]) == (True, True, True)
    assert idle["no_effect"] is True


def test_resets_without_a_step_and_unseen_observations_leave_nothing(
    make_env: Any, tmp_path: Path
) -> None:
    path = tmp_path / "episodes.jsonl"
    recorded = EpisodeRecorder(make_env(), path, observations=False)
    recorded.reset()
    recorded.reset()
    recorded.step(ADD)
    recorded.close()
    (episode,) = lines(path)
    assert episode["observation"] is None
    assert episode["steps"][0]["observation"] is None


def test_a_fork_writes_whole_episodes_too(env: FakeEnv, tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"
    recorded = EpisodeRecorder(env, path)
    recorded.reset()
    recorded.step(ADD)
    with recorded.fork() as fork:
        fork.step(DOUBLE)
    recorded.close()
    assert sorted(len(episode["steps"]) for episode in lines(path)) == [1, 2]


def test_parquet_has_one_row_per_step(env: FakeEnv, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is missing")
    path = tmp_path / "steps.parquet"
    recorded = EpisodeRecorder(env, path)
    for _ in range(2):
        recorded.reset(benchmark="fake-v0/7")
        recorded.step(ADD)
        recorded.step(DOUBLE)
    recorded.close()
    rows = parquet.read_table(path).to_pylist()
    assert [(row["episode"], row["step"]) for row in rows] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert rows[1]["observation"] == rows[0]["next_observation"] == "[[8, 64, 1]]"
    assert rows[3]["reward"] == -8.0
    assert json.loads(rows[3]["actions"]) == [DOUBLE]


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_a_full_disk_is_reported_and_leaves_nothing_running(env: FakeEnv, format: Any) -> None:
    recorded = EpisodeRecorder(env, "/dev/full", format=format)
    recorded.reset()
    recorded.step(ADD)
    worker = worker_pid(env)
    assert worker is not None
    with pytest.raises(RecordingError, match=r"/dev/full: .*[Nn]o space left"):
        recorded.close()
    assert wait_until(lambda: not is_running(worker))
    recorded.close()


def test_an_unknown_format_is_refused(env: FakeEnv, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameterError, match=r"episodes\.txt"):
        EpisodeRecorder(env, tmp_path / "episodes.txt")
