# SPDX-License-Identifier: MIT
"""Numbers arrive where each library keeps them, without a network."""

import json
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.errors import RecordingError
from compiler_gym.testing import FakeEnv
from compiler_gym.tools.learn.integrations.tracking import (
    JsonLinesTracker,
    MlflowTracker,
    TensorBoardTracker,
    TrackEpisodes,
    WandbTracker,
)
from compiler_gym.wrappers import TimeLimit


def test_every_episode_is_reported_once(tmp_path: Path) -> None:
    path = tmp_path / "new" / "log.jsonl"
    tracker = JsonLinesTracker(path, {"seed": 3})
    base = FakeEnv(reward_space="number", action_space="Behaviours")
    with TrackEpisodes(TimeLimit(base, 2), tracker) as env:
        env.reset(benchmark="benchmark://fake-v0/7")
        env.step(0)
        with env.fork() as fork:
            fork.step(0)
        env.step(0)
        env.reset()
        env.step(env.action_space["segfault"])
    config, first, second = (json.loads(line) for line in path.read_text().splitlines())
    assert config == {"config": {"seed": 3}}
    assert first == {"step": 2, "episode_reward": -2.0, "episode_length": 2.0, "failed": 0.0}
    assert (second["step"], second["failed"]) == (3, 1.0)


def test_a_full_disk_is_reported() -> None:
    with pytest.raises(RecordingError, match="No space left"):
        JsonLinesTracker("/dev/full").log({"x": 1.0}, 1)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_tensorboard_reads_what_was_written(tmp_path: Path) -> None:
    reading: Any = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator", reason="tensorboard is missing"
    )
    with TensorBoardTracker(tmp_path, {"rate": 0.5, "name": "text"}) as tracker:
        for step in (1, 2):
            tracker.log({"episode_reward": step / 2}, step)
    events = reading.EventAccumulator(str(tmp_path))
    events.Reload()
    found = [(event.step, event.value) for event in events.Scalars("episode_reward")]
    assert found == [(1, 0.5), (2, 1.0)]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_mlflow_reads_what_was_written(tmp_path: Path) -> None:
    pytest.importorskip("mlflow", reason="mlflow is missing")
    with MlflowTracker(tmp_path, {"seed": 3}) as tracker:
        for step in (1, 2):
            tracker.log({"episode_reward": step / 2}, step)
    client: Any = tracker._client  # pyright: ignore[reportPrivateUsage]  # which reads it back
    history = client.get_metric_history(tracker.run_id, "episode_reward")
    assert [(metric.step, metric.value) for metric in history] == [(1, 0.5), (2, 1.0)]
    run = client.get_run(tracker.run_id)
    assert run.data.params == {"seed": "3"}
    assert run.info.status == "FINISHED"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_weights_and_biases_writes_a_run_and_sends_nothing(tmp_path: Path) -> None:
    pytest.importorskip("wandb", reason="wandb is missing")
    with WandbTracker(tmp_path, {"seed": 3}) as tracker:
        tracker.log({"episode_reward": 0.5}, 1)
    (run,) = tmp_path.rglob("run-*.wandb")
    assert b"episode_reward" in run.read_bytes()
