# SPDX-License-Identifier: MIT
"""Report metrics to experiment trackers through one interface.

A tracker takes a dictionary of numbers at a step. `TrackEpisodes` reports the rewards of episodes.
TensorBoard needs the extra ``tensorboard``, Weights & Biases ``wandb`` and MLflow ``mlflow``; JSON
lines need nothing.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol, Self, cast

import gymnasium

from compiler_gym.cli.kit.library import library
from compiler_gym.errors import RecordingError
from compiler_gym.files import append_line, writing
from compiler_gym.runs import open_scalars
from compiler_gym.wrappers import EpisodeStream, Lasting, StepRecord


class Tracker(Protocol):
    """A receiver of metrics. All calls come from one thread, and `close` comes last."""

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Record `values` at `step`."""
        ...

    def close(self) -> None:
        """Finish; calling it twice is fine."""
        ...


class _Closing:
    """A tracker that closes at the end of a ``with`` block."""

    def close(self) -> None:
        """Finish."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *args: Any) -> None:
        self.close()


class JsonLinesTracker(_Closing):
    """A tracker that appends one line of JSON for each step."""

    def __init__(self, path: str | Path, config: Mapping[str, Any] | None = None) -> None:
        self.path = Path(path)
        if config:
            self._write({"config": dict(config)})

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Append a line; raise `RecordingError` if the file cannot be written."""
        self._write({"step": step, **{name: float(value) for name, value in values.items()}})

    def _write(self, line: Mapping[str, Any]) -> None:
        with writing(self.path, RecordingError):
            append_line(self.path, line, sync=False)


class TensorBoardTracker(_Closing):
    """A tracker that writes an event file in `folder`."""

    def __init__(self, folder: str | Path, config: Mapping[str, Any] | None = None) -> None:
        library("tensorboard.summary.writer.event_file_writer", "tensorboard")
        self._scalars = open_scalars(Path(folder))
        if config:
            self.log({k: v for k, v in config.items() if isinstance(v, (int, float))}, 0)

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Write a scalar for each value."""
        self._scalars.add(step, values)

    def close(self) -> None:
        """Finish the file."""
        self._scalars.close()


class WandbTracker(_Closing):
    """A tracker that writes a Weights & Biases run in `folder`; offline by default."""

    def __init__(
        self,
        folder: str | Path,
        config: Mapping[str, Any] | None = None,
        *,
        project: str = "compiler_gym",
        mode: str = "offline",
    ) -> None:
        wandb = library("wandb", "wandb")
        Path(folder).mkdir(parents=True, exist_ok=True)
        self._run: Any = wandb.init(
            project=project, dir=str(folder), mode=mode, config=dict(config or {})
        )

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Add to the run's history."""
        self._run.log(dict(values), step=step)

    def close(self) -> None:
        """Finish the run."""
        run, self._run = self._run, None
        if run is not None:
            run.finish()


class MlflowTracker(_Closing):
    """A tracker that writes an MLflow run to a store in `folder`."""

    def __init__(
        self,
        folder: str | Path,
        config: Mapping[str, Any] | None = None,
        *,
        experiment: str = "compiler_gym",
    ) -> None:
        library("mlflow", "mlflow")
        tracking = library("mlflow.tracking", "mlflow")
        path = Path(folder).resolve()
        path.mkdir(parents=True, exist_ok=True)
        self._client: Any = tracking.MlflowClient(f"sqlite:///{path / 'mlflow.db'}")
        existing = self._client.get_experiment_by_name(experiment)
        number = (
            self._client.create_experiment(experiment, artifact_location=f"file://{path}/files")
            if existing is None
            else existing.experiment_id
        )
        self.run_id: str = self._client.create_run(number).info.run_id
        """The ID of the run in the store."""
        self._is_open = True
        for name, value in (config or {}).items():
            self._client.log_param(self.run_id, name, value)

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Add a metric for each value."""
        for name, value in values.items():
            self._client.log_metric(self.run_id, name, float(value), step=step)

    def close(self) -> None:
        """Mark the run as finished."""
        if self._is_open:
            self._is_open = False
            self._client.set_terminated(self.run_id)


class TrackEpisodes(EpisodeStream):
    """A wrapper that reports ``episode_reward``, ``episode_length`` and ``failed`` of episodes.

    The step is the number of actions so far. Forks do not report. Closing the environment does not
    close the trackers, because they may be shared.
    """

    sees = False

    def __init__(self, env: gymnasium.Env[Any, Any], trackers: Tracker | Iterable[Tracker]) -> None:
        super().__init__(env)
        self._reported = _Reported(_several(trackers))
        self._steps = 0
        self._length = 0
        self._total = 0.0

    def episode_began(self) -> None:
        """Restart the counts."""
        super().episode_began()
        self._length, self._total = 0, 0.0

    def step_taken(self, step: StepRecord) -> None:
        """Report if the episode ends with this step."""
        self._steps += len(step.actions)
        self._length += len(step.actions)
        if isinstance(step.reward, (int, float)):
            self._total += step.reward
        if step.terminated or step.truncated:
            values = {
                "episode_reward": self._total,
                "episode_length": float(self._length),
                "failed": float(step.error is not None),
            }
            for tracker in self._reported.trackers:
                tracker.log(values, self._steps)


class _Reported(Lasting):
    """The trackers to report to; the copy in a fork has none."""

    def __init__(self, trackers: Iterable[Tracker]) -> None:
        self.trackers = tuple(trackers)

    def __deepcopy__(self, memo: dict[int, Any]) -> "_Reported":
        return _Reported(())


def _several(trackers: Tracker | Iterable[Tracker]) -> Iterable[Tracker]:
    return (
        [cast(Tracker, trackers)] if hasattr(trackers, "log") else cast(Iterable[Tracker], trackers)
    )
