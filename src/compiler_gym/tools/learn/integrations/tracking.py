# SPDX-License-Identifier: MIT
"""One way to report numbers, and the libraries that keep them.

A tracker takes a dictionary of numbers at a step. `TrackEpisodes` reports what episodes
earn. TensorBoard needs the extra ``tensorboard``, Weights & Biases ``wandb`` and MLflow
``mlflow``; JSON lines need nothing.
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

__all__ = [
    "JsonLinesTracker",
    "MlflowTracker",
    "TensorBoardTracker",
    "TrackEpisodes",
    "Tracker",
    "WandbTracker",
]


class Tracker(Protocol):
    """Takes numbers. Calls come from one thread, `close` last."""

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Keep `values` under `step`."""
        ...

    def close(self) -> None:
        """Finish; calling it twice is fine."""
        ...


class _Closing:
    """A tracker that is closed at the end of a block."""

    def close(self) -> None:
        """Finish."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *args: Any) -> None:
        self.close()


class JsonLinesTracker(_Closing):
    """Appends one line of JSON for each step."""

    def __init__(self, path: str | Path, config: Mapping[str, Any] | None = None) -> None:
        self.path = Path(path)
        if config:
            self._write({"config": dict(config)})

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Append a line; raise `RecordingError` if the file takes none."""
        self._write({"step": step, **{name: float(value) for name, value in values.items()}})

    def _write(self, line: Mapping[str, Any]) -> None:
        with writing(self.path, RecordingError):
            append_line(self.path, line, sync=False)


class TensorBoardTracker(_Closing):
    """Writes an event file below `folder`."""

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
    """Writes a run of Weights & Biases below `folder`; nothing is sent unless `mode` is online."""

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
    """Writes a run of MLflow to a store in the folder `folder`."""

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
        found = self._client.get_experiment_by_name(experiment)
        number = (
            self._client.create_experiment(experiment, artifact_location=f"file://{path}/files")
            if found is None
            else found.experiment_id
        )
        self.run_id: str = self._client.create_run(number).info.run_id
        """The name of the run in the store."""
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
    """Report ``episode_reward``, ``episode_length`` and ``failed`` of every episode.

    The step is the number of actions so far. Forks do not report. Closing the environment
    leaves the trackers open: they may be shared.
    """

    sees = False

    def __init__(self, env: gymnasium.Env[Any, Any], trackers: Tracker | Iterable[Tracker]) -> None:
        super().__init__(env)
        self._reported = _Reported(_several(trackers))
        self._steps = 0
        self._length = 0
        self._total = 0.0

    def episode_began(self) -> None:
        """Count anew."""
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
    """Who is reported to: a fork reports to none."""

    def __init__(self, trackers: Iterable[Tracker]) -> None:
        self.trackers = tuple(trackers)

    def __deepcopy__(self, memo: dict[int, Any]) -> "_Reported":
        return _Reported(())


def _several(given: Tracker | Iterable[Tracker]) -> Iterable[Tracker]:
    return [cast(Tracker, given)] if hasattr(given, "log") else cast(Iterable[Tracker], given)
