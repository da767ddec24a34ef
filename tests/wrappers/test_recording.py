# SPDX-License-Identifier: MIT
"""Episodes are in the file, whole, and a file that takes nothing is reported."""

import json
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler_gym.errors import InvalidParameterError, RecordingError
from compiler_gym.spaces import Opaque
from compiler_gym.testing import FakeEnv, is_running, wait_until, worker_pid
from compiler_gym.vector import CompilerVectorEnv
from compiler_gym.wrappers import EpisodeRecorder, ForkOnStep, TimeLimit, write_json_text
from compiler_gym.wrappers.recording import require_json
from tests.stand_ins import always, stand_in

ADD, DOUBLE = 0, 1


class Graph:
    """A value without a JSON form."""


class Graphs(Opaque):
    """Every graph."""

    def sample(self, mask: None = None, probability: None = None) -> Any:
        return Graph()

    def contains(self, x: Any) -> bool:
        return isinstance(x, Graph)


def graph_env(make_env: Any) -> Any:
    env = make_env()
    env.observation.add_derived_space(
        "graph", "number", always(Graph()), space=Graphs("graph", "graph"), default_value=0
    )
    return env


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
def test_a_full_disk_is_reported_and_leaves_nothing_running(
    env: FakeEnv, format: Any, tmp_path: Path
) -> None:
    if format == "parquet" and os.geteuid():
        pytest.skip("locks beside /dev/full, as only root can")
    full = tmp_path / "full"
    full.symlink_to("/dev/full")
    recorded = EpisodeRecorder(env, full, format=format)
    recorded.reset()
    recorded.step(ADD)
    worker = worker_pid(env)
    assert worker is not None
    with pytest.raises(RecordingError, match=r"full: .*[Nn]o space left"):
        recorded.close()
    assert wait_until(lambda: not is_running(worker))
    recorded.close()


def test_an_unknown_format_is_refused(env: FakeEnv, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameterError, match=r"episodes\.txt"):
        EpisodeRecorder(env, tmp_path / "episodes.txt")


def table(path: Path) -> list[dict[str, Any]]:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is missing")
    return parquet.read_table(path).to_pylist()


def limited(path: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Run `script` in a process whose files cannot grow beyond `room` bytes."""
    return subprocess.run(
        [sys.executable, "-c", LIMITED + script, str(path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )


LIMITED = """
import resource, sys
from compiler_gym.errors import RecordingError
from compiler_gym.testing import FakeEnv
from compiler_gym.wrappers import EpisodeRecorder

def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

base = FakeEnv(observation_space="vector", reward_space="number", isolation="in-process")
env = EpisodeRecorder(base, sys.argv[1])
env.reset(benchmark="fake-v0/1")
env.step(0)
env.reset(benchmark="fake-v0/2")
env.multistep([0] * 200)
"""


def test_a_write_that_fails_leaves_whole_episodes_and_is_made_up_for(
    tmp_path: Path,
) -> None:
    path = tmp_path / "episodes.jsonl"
    script = """
limit(path_size() + 100)
try:
    env.reset(benchmark="fake-v0/3")
except RecordingError as error:
    print(error)
print(path_size())
env.step(1)
limit(resource.RLIM_INFINITY)
env.close()
"""
    size = "import os\ndef path_size(): return os.stat(sys.argv[1]).st_size\nprint(path_size())\n"
    before, error, after = limited(path, size + script).stdout.splitlines()
    assert "File too large" in error
    assert "written again" in error
    assert before == after
    found = [(line["benchmark"][-1], len(line["steps"])) for line in lines(path)]
    assert found == [("1", 1), ("2", 1), ("3", 1)]


def test_a_reset_that_cannot_write_has_started_an_episode_that_is_recorded(
    env: FakeEnv, tmp_path: Path
) -> None:
    path = tmp_path / "folder" / "episodes.jsonl"
    recorded = EpisodeRecorder(env, path)
    recorded.reset(benchmark="fake-v0/1")
    recorded.step(ADD)
    path.parent.write_text("in the way")
    with pytest.raises(RecordingError, match="written again"):
        recorded.reset(benchmark="fake-v0/2")
    assert recorded.actions == []
    assert str(recorded.benchmark) == "benchmark://fake-v0/2"
    recorded.step(ADD)
    path.parent.unlink()
    recorded.flush()
    recorded.close()
    assert [line["benchmark"][-1] for line in lines(path)] == ["1", "2"]


def test_lines_of_several_writers_stay_whole(make_env: Any, tmp_path: Path) -> None:
    path = tmp_path / "episodes.jsonl"

    def row() -> Any:
        return EpisodeRecorder(make_env(observation_space="json"), path)

    recorders = [row() for _ in range(3)]

    def play(recorder: Any) -> None:
        for _ in range(20):
            recorder.reset()
            for _ in range(30):
                recorder.step(ADD)
        recorder.close()

    threads = [threading.Thread(target=play, args=[recorder]) for recorder in recorders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(line["steps"]) for line in lines(path)] == [30] * 60


def test_a_parquet_file_has_one_recorder_at_a_time(make_env: Any, tmp_path: Path) -> None:
    path = tmp_path / "steps.parquet"
    first = EpisodeRecorder(make_env(), path)
    first.reset()
    first.step(ADD)
    with pytest.raises(RecordingError, match=r"steps\.parquet.*a separate file"):
        EpisodeRecorder(make_env(), path)
    first.close()
    assert len(table(path)) == 1
    second = EpisodeRecorder(make_env(), path)
    second.close()
    assert len(table(path)) == 1, "what is there goes when there is something new"


def test_rows_of_a_vector_need_separate_parquet_files(make_env: Any, tmp_path: Path) -> None:
    path = tmp_path / "steps.parquet"
    with pytest.raises(RecordingError, match="a separate file"):
        CompilerVectorEnv([lambda: EpisodeRecorder(make_env(), path)] * 2)
    paths = iter([tmp_path / "0.parquet", tmp_path / "1.parquet"])
    vector = CompilerVectorEnv([lambda: EpisodeRecorder(make_env(), next(paths))] * 2)
    vector.reset()
    vector.step(np.array([ADD, DOUBLE]))
    vector.step(np.array([ADD, DOUBLE]))
    vector.close()
    for number in (ADD, DOUBLE):
        actions = [json.loads(row["actions"]) for row in table(tmp_path / f"{number}.parquet")]
        assert actions == [[number], [number]]


@pytest.mark.parametrize(
    "copied", [stand_in(lambda env: pickle.loads(pickle.dumps(env))), stand_in(lambda e: e.fork())]
)
def test_copies_write_lines_and_no_parquet(make_env: Any, tmp_path: Path, copied: Any) -> None:
    for name in ("steps.parquet", "steps.jsonl"):
        recorded = EpisodeRecorder(make_env(), tmp_path / name)
        recorded.reset()
        recorded.step(ADD)
        with copied(recorded) as twin:
            twin.step(DOUBLE)
            recorded.reset()
            twin.reset()
            twin.step(DOUBLE)
        recorded.step(ADD)
        recorded.close()
    assert [(row["episode"], row["step"]) for row in table(tmp_path / "steps.parquet")] == [
        (0, 0),
        (1, 0),
    ]
    steps = [[step["actions"] for step in e["steps"]] for e in lines(tmp_path / "steps.jsonl")]
    assert sorted(steps) == [[[0]], [[0]], [[0], [1]], [[1]]]


def test_a_forked_process_leaves_the_parquet_file_alone(make_env: Any, tmp_path: Path) -> None:
    path = tmp_path / "steps.parquet"
    recorded = EpisodeRecorder(make_env(isolation="in-process"), path)
    for _ in range(2):
        recorded.reset()
        recorded.step(ADD)
    child = os.fork()
    if child == 0:
        try:
            recorded.reset()
            recorded.step(DOUBLE)
            recorded.close()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    recorded.step(ADD)
    recorded.close()
    assert [(row["episode"], row["step"]) for row in table(path)] == [(0, 0), (1, 0), (1, 1)]


def test_a_parquet_file_is_complete_when_its_recorder_is_forgotten(
    make_env: Any, tmp_path: Path
) -> None:
    path = tmp_path / "steps.parquet"
    recorded = EpisodeRecorder(make_env(), path)
    recorded.reset()
    recorded.step(ADD)
    recorded.flush()
    del recorded
    assert len(table(path)) == 1


def test_a_closed_parquet_file_is_not_begun_again(make_env: Any, tmp_path: Path) -> None:
    path = tmp_path / "steps.parquet"
    recorded = EpisodeRecorder(make_env(), path)
    recorded.reset()
    recorded.step(ADD)
    recorded.close()
    recorded.reset()
    recorded.step(ADD)
    with pytest.raises(RecordingError, match="is closed"):
        recorded.close()
    assert len(table(path)) == 1


def test_an_unused_parquet_file_has_no_rows(env: FakeEnv, tmp_path: Path) -> None:
    path = tmp_path / "steps.parquet"
    EpisodeRecorder(env, path).close()
    assert table(path) == []


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_several_rewards_are_recorded(make_env: Any, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"episodes.{suffix}"
    recorded = EpisodeRecorder(make_env(reward_space=["number"]), path)
    recorded.reset()
    recorded.step(ADD)
    recorded.reset(reward_space="number")
    recorded.step(ADD)
    recorded.close()
    if suffix == "jsonl":
        assert [line["steps"][0]["reward"] for line in lines(path)] == [[-1.0], -1.0]
    else:
        rewards = [(row["reward"], row["rewards"]) for row in table(path)]
        assert rewards == [(None, [-1.0]), (-1.0, None)]


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_a_value_without_a_json_form_is_refused(make_env: Any, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"episodes.{suffix}"
    env = graph_env(make_env)
    recorded = EpisodeRecorder(env, path)
    recorded.reset()
    recorded.step(ADD)
    with pytest.raises(RecordingError, match=r"Graph has no JSON form; .*observation"):
        recorded.reset(observation_space="graph")
    recorded.close()
    assert len(lines(path) if suffix == "jsonl" else table(path)) == 1
    other = tmp_path / f"other.{suffix}"
    env.observation_space = "graph"
    with pytest.raises(RecordingError, match=r"Graph has no JSON form; .*observation"):
        EpisodeRecorder(env, other)
    assert not other.exists()
    recorded = EpisodeRecorder(env, other, observations=False)
    recorded.reset()
    recorded.step(ADD)
    recorded.close()
    assert len(lines(other) if suffix == "jsonl" else table(other)) == 1


def test_the_refusal_of_a_space_leaves_its_random_numbers_alone(
    make_env: Any, tmp_path: Path
) -> None:
    env = make_env()
    env.observation_space.seed(3)
    expected = env.observation_space.sample()
    env.observation_space.seed(3)
    EpisodeRecorder(env, tmp_path / "episodes.jsonl")
    assert (env.observation_space.sample() == expected).all()


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_recorded_steps_are_not_written_again_after_an_undo(
    make_env: Any, tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"episodes{suffix}"
    recorded = EpisodeRecorder(ForkOnStep(make_env()), path)
    recorded.reset(benchmark="fake-v0/7")
    for action in (ADD, DOUBLE, ADD):
        recorded.step(action)
    recorded.flush()
    recorded.undo().undo()
    recorded.step(ADD)
    recorded.flush()
    recorded.reset(benchmark="fake-v0/5")
    recorded.step(DOUBLE)
    recorded.close()
    if suffix == ".jsonl":
        taken = [[step["actions"] for step in line["steps"]] for line in lines(path)]
    else:
        parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is missing")
        rows = parquet.read_table(path).to_pylist()
        taken = [
            [json.loads(row["actions"]) for row in rows if row["episode"] == number]
            for number in sorted({row["episode"] for row in rows})
        ]
    assert taken == [[[ADD], [DOUBLE], [ADD]], [[DOUBLE]]]


@given(st.recursive(st.integers() | st.text() | st.none(), st.lists))
def test_plain_values_are_json_as_they_are(value: Any) -> None:
    assert json.loads(write_json_text(value)) == value


def test_arrays_and_bytes_have_a_form_in_json() -> None:
    value = {"array": np.arange(3), "number": np.float64(0.5), "bytes": b"\x01\xff"}
    assert json.loads(write_json_text(value)) == {
        "array": [0, 1, 2],
        "number": 0.5,
        "bytes": "01ff",
    }


@pytest.mark.parametrize("value", [{1, 2}, object(), {("a",): 1}])
def test_an_object_without_a_json_form_is_refused(value: Any) -> None:
    with pytest.raises(RecordingError, match="JSON form"):
        write_json_text({"seen": value} if not isinstance(value, dict) else value)


def test_a_value_within_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(RecordingError, match="JSON form"):
        write_json_text(value)


def test_asking_what_a_space_holds_draws_nothing_from_it() -> None:
    space = gymnasium.spaces.Box(0, 1, (2,))
    space.seed(3)
    require_json(space)
    first = space.sample()
    space.seed(3)
    assert (space.sample() == first).all()
