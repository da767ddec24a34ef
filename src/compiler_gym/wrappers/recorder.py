# SPDX-License-Identifier: MIT
"""Write episodes to a file as they end, as JSON lines or Parquet.

Nothing is written during an episode, and a line that a full disk truncates is removed again, so
that a file never contains partial lines. A recorder that cannot write raises `RecordingError`.
"""

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from compiler_gym.errors import InvalidParameterError, RecordingError
from compiler_gym.files import append
from compiler_gym.wrappers._below import Environment
from compiler_gym.wrappers._recording import (
    EpisodeRecord,
    EpisodeSink,
    EpisodeStream,
    StepRecord,
    require_json,
    write_json_text,
)
from compiler_gym.wrappers._recording_parquet import ParquetFile
from compiler_gym.wrappers.copying import Lasting, State

__all__ = ["EpisodeRecorder"]

Format = Literal["jsonl", "parquet"]
_SUFFIXES: dict[str, Format] = {".jsonl": "jsonl", ".json": "jsonl", ".parquet": "parquet"}
_KEPT = "the episode is written again with the next one"
_LOST = "unwritten episodes are lost"


class EpisodeRecorder(EpisodeStream):
    """A wrapper that records every episode to `path`.

    JSON lines are appended, one episode each: ``benchmark``, ``action_space``,
    ``commandline``, ``compiler_version``, ``observation`` (the first) and ``steps`` (each with
    ``actions``, ``reward``, ``terminated``, ``truncated``, ``no_effect``, ``error`` and
    ``observation``). Several recorders may share the file.

    A Parquet file has one row per step with the same columns and the numbers of ``episode`` and
    ``step``; several rewards are in the column ``rewards``, and observations are JSON text. An
    existing file is replaced. Only one recorder can use the file, which is complete after `close`.

    An episode is written when the next one begins, or by `close`. Forks and pickled copies write
    their own episodes, with all steps since the reset, to the same JSON lines, but not to Parquet.

    Raises `RecordingError` if the file cannot be written, or an observation has no JSON form. If
    `reset` cannot write the last episode, it raises the error after starting the new one, which is
    recorded; the next write retries the last one.
    """

    def __init__(
        self,
        env: Environment,
        path: str | Path,
        format: Format | None = None,
        observations: bool = True,
    ) -> None:
        super().__init__(env)
        self.path = Path(path).expanduser()
        """The file."""
        self._format = format or _SUFFIXES.get(self.path.suffix)
        if self._format not in _SINKS:
            raise InvalidParameterError(
                f"unknown format of {self.path.name}; name a .jsonl or .parquet file"
            )
        self.sees = observations
        if observations:
            require_json(self.observation_space)
        self._episode: EpisodeRecord | None = None
        self._output = _Output()
        self._guard(self._claim, "choose a file that you can write to")

    def episode_started(self, episode: EpisodeRecord) -> None:
        """Start the record of an episode."""
        write_json_text(episode.observation)
        self._output.is_written = False
        self._episode = episode

    def step_taken(self, step: StepRecord) -> None:
        """Add a step to the record, unless the episode has been written."""
        if self._episode is not None and not self._output.is_written:
            self._episode.steps.append(step)
            self._episode.commandline = self.below.commandline()

    def episode_ended(self) -> None:
        """Write the episode."""
        self._write()

    def flush(self) -> None:
        """Write the episode now, not when the next one begins; its later steps are omitted."""
        self._write()

    def close(self) -> None:
        """Write the last episode, finish the file and close the environment."""
        try:
            try:
                self._write(_LOST)
            finally:
                if self._output.sink is not None:
                    self._guard(self._output.sink.close, _LOST)
        finally:
            super().close()

    def _claim(self) -> None:
        self._output.sink = _SINKS[self._format or ""](self.path)
        weakref.finalize(self, self._output.sink.close)

    def _write(self, consequence: str = _KEPT) -> None:
        episode, self._episode = self._episode, None
        output = self._output
        is_written, output.is_written = output.is_written, True  # undo restores the steps
        if output.sink is None:
            return
        if episode is not None and episode.steps and not is_written:
            output.sink.add(episode, output.episodes)
            output.episodes += 1
        self._guard(output.sink.flush, consequence)

    def _guard(self, write: Callable[[], None], advice: str) -> None:
        try:
            write()
        except RecordingError:
            raise
        except OSError as error:
            raise RecordingError(
                f"cannot record to {self.path}: {error.strerror or error}; {advice}"
            ) from error


@dataclass
class _Output(Lasting):
    """The sink of a recorder, and the state of its output."""

    episodes: int = 0
    """The number of episodes written."""
    is_written: bool = False
    """True if the current episode has been written."""
    sink: EpisodeSink | None = None

    def __getstate__(self) -> State:
        return vars(self) | {"sink": self.sink and self.sink.for_copy()}


class _JsonLines:
    """A sink that appends a line for each episode to the file `path`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._late = b""
        """The lines that are not written yet."""

    def add(self, episode: EpisodeRecord, number: int) -> None:
        self._late += (write_json_text(episode) + "\n").encode()

    def flush(self) -> None:
        if self._late:
            append(self._path, self._late)
            self._late = b""

    def close(self) -> None:
        self._late = b""

    def for_copy(self) -> "_JsonLines":
        return _JsonLines(self._path)


_SINKS: dict[str, Callable[[Path], EpisodeSink]] = {"jsonl": _JsonLines, "parquet": ParquetFile}
