# SPDX-License-Identifier: MIT
"""Episodes as records, and wrappers that record them: in a list, as JSON lines or as Parquet.

`EpisodeStream` calls three methods of its subclass: at the start of an episode, after a step and at
the end of the episode. A file receives whole episodes. Nothing
is written during an episode, and a line that a full disk truncates is removed again, so that a file
never contains partial lines. A recorder that cannot write raises `RecordingError`.
"""

import copy
import io
import json
import os
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import gymnasium
import msgspec
import numpy as np
from numpy.typing import NDArray

from compiler_gym.core import ResetArguments, ResetResult, StepArguments, StepTuple
from compiler_gym.errors import InvalidParameterError, RecordingError
from compiler_gym.files import append, lock_path, make_folder, write_whole
from compiler_gym.spaces import space_name, to_plain
from compiler_gym.version import install_hint
from compiler_gym.wrappers.layers import Environment, Lasting, State
from compiler_gym.wrappers.wrapper import CompilerEnvWrapper

Format = Literal["jsonl", "parquet"]
_SUFFIXES: dict[str, Format] = {".jsonl": "jsonl", ".json": "jsonl", ".parquet": "parquet"}
_KEPT = "the episode is written again with the next one"
_LOST = "unwritten episodes are lost"


class StepRecord(msgspec.Struct):
    """One call of `step` or `multistep`, in plain values."""

    actions: list[Any]
    reward: float | list[float] | None
    """None if the step named its own reward spaces."""
    terminated: bool
    truncated: bool
    no_effect: bool
    error: str | None
    observation: Any
    """The observation after the step, in the form of the space's `to_jsonable`; None if the step
    named its own observation spaces."""
    error_type: str | None = None
    """The class of the error, if the step failed."""


class EpisodeRecord(msgspec.Struct):
    """One episode. The fields have the names and the order of the JSON lines."""

    benchmark: str
    action_space: str | None
    compiler_version: str
    seed: int | None
    observation: Any
    """The first observation."""
    commandline: str = ""
    steps: list[StepRecord] = []

    def transitions(self) -> Iterator[tuple[Any, StepRecord]]:
        """Yield each step with the observation before it."""
        before = self.observation
        for step in self.steps:
            yield before, step
            before = step.observation


class EpisodeStream(CompilerEnvWrapper):
    """A wrapper that reports episodes and steps to the methods of a subclass."""

    sees: bool = True
    """True to record observations."""
    step_record: type[StepRecord] = StepRecord
    """The type of recorded steps; a subclass may add fields with defaults."""

    def episode_started(self, episode: EpisodeRecord) -> None:
        """Called when an episode has started; `episode` has no steps."""

    def step_taken(self, step: StepRecord) -> None:
        """Called after a step."""

    def episode_ended(self) -> None:
        """Called before the next reset: the episode has no more steps."""

    def handle_reset(self, asked: ResetArguments) -> ResetResult:
        """End the last episode and start a new one."""
        try:
            self.episode_ended()
        finally:  # keep the record in step with the environment even if the sink fails
            observation, info = super().handle_reset(asked)
            self.episode_started(
                EpisodeRecord(
                    str(self.benchmark),
                    space_name(self.action_space),
                    self.below.compiler_version,
                    asked.seed,
                    self.keep_observation(observation),
                )
            )
        return observation, info

    def handle_step(self, asked: StepArguments) -> StepTuple:
        """Apply the actions and report the step."""
        result = super().handle_step(asked)
        observation, reward, terminated, truncated, info = result
        self.step_taken(
            self.step_record(
                [to_plain(action) for action in asked.actions],
                to_plain(reward) if asked.reward_spaces is None else None,
                terminated,
                truncated,
                no_effect=info.get("action_had_no_effect", False),
                error=info.get("error_details"),
                observation=self.keep_observation(observation)
                if asked.observation_spaces is None
                else None,
                error_type=info.get("error_type"),
            )
        )
        return result

    def keep_observation(self, observation: Any) -> Any:
        """Return an observation in its recorded form: plain values by default."""
        if not self.sees or observation is None or (space := self.observation_space) is None:
            return None
        return space.to_jsonable([observation])


class EpisodeList(EpisodeStream):
    """A wrapper that keeps episodes in memory, with the observations that it returns."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.episodes: list[EpisodeRecord] = []

    def keep_observation(self, observation: Any) -> Any:
        """Return the observation."""
        return observation

    def episode_started(self, episode: EpisodeRecord) -> None:
        """Start the record of an episode."""
        self.episodes.append(episode)

    def step_taken(self, step: StepRecord) -> None:
        """Add a step."""
        self.episodes[-1].steps.append(step)


class EpisodeRecorder(EpisodeStream):
    """A wrapper that records every episode to `path`.

    JSON lines are appended, one episode each: ``benchmark``, ``action_space``,
    ``commandline``, ``compiler_version``, ``observation`` (the first) and ``steps`` (each with
    ``actions``, ``reward``, ``terminated``, ``truncated``, ``no_effect``, ``error`` and
    ``observation``). Several recorders may share the file.

    A Parquet file has one row per step with the same columns and the numbers of ``episode`` and
    ``step``; several rewards are in the column ``rewards``, and observations are JSON text. An
    existing file is replaced. Only one recorder can use the file. Its rows stay in memory,
    compressed, until `close` writes them.

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
    sink: "_JsonLines | _ParquetFile | None" = None

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


class _ParquetFile:
    """A sink that writes a row for each step to the file `path`, which it locks until `close`.

    Rows are encoded in memory and written by `close`, because a Parquet file without its end cannot
    be read. Without rows, an existing file stays. A forked process writes nothing.
    """

    def __init__(self, path: Path) -> None:
        self._arrow, parquet = import_arrow()
        self._path = path
        try:
            with make_folder(path.parent):
                self._lock = lock_path(path, wait=False)
        except BlockingIOError as error:
            raise RecordingError(
                f"cannot record to {path}: another recorder is writing to it ({error.strerror}); "
                "close it, or record each environment to a separate file"
            ) from None
        self._schema = self._arrow.schema(
            [(name, getattr(self._arrow, kind)()) for name, kind in _PLAIN_COLUMNS]
            + [("rewards", self._arrow.list_(self._arrow.float64()))]
        )
        self._encoded = io.BytesIO()
        self._writer = parquet.ParquetWriter(self._encoded, self._schema)
        self._has_rows = False

    def add(self, episode: EpisodeRecord, number: int) -> None:
        if self._lock.owner != os.getpid():
            return
        if not self._lock.is_held:
            raise RecordingError(f"{self._path} is closed; record further episodes to another file")
        rows = [_row(episode, number, *step) for step in enumerate(episode.transitions())]
        try:
            self._writer.write_table(self._arrow.Table.from_pylist(rows, self._schema))
        except (TypeError, ValueError) as error:
            raise RecordingError(
                f"cannot record an episode to {self._path}: {error}; JSON lines accept all values"
            ) from error
        self._has_rows = True

    def flush(self) -> None:
        pass

    def close(self) -> None:
        if not self._lock.is_held:
            return
        try:
            self._writer.close()
            if self._has_rows or not self._path.exists():
                write_whole(self._path, self._encoded.getvalue())
        finally:
            self._lock.release()

    def for_copy(self) -> None:
        return None


_PLAIN_COLUMNS = (
    *(("episode", "int64"), ("step", "int32"), ("benchmark", "string"), ("actions", "string")),
    *(("reward", "float64"), ("terminated", "bool_"), ("truncated", "bool_")),
    *(("no_effect", "bool_"), ("error", "string")),
    *(("observation", "string"), ("next_observation", "string")),
)


def _row(
    episode: EpisodeRecord, number: int, index: int, transition: tuple[Any, StepRecord]
) -> dict[str, Any]:
    before, step = transition
    has_several = isinstance(step.reward, list)
    return {
        **{name: getattr(step, name) for name in ("terminated", "truncated", "no_effect", "error")},
        "episode": number,
        "step": index,
        "benchmark": episode.benchmark,
        "actions": write_json_text(step.actions),
        "reward": None if has_several else step.reward,
        "rewards": step.reward if has_several else None,
        "observation": None if before is None else write_json_text(before),
        "next_observation": None if step.observation is None else write_json_text(step.observation),
    }


_SINKS: dict[str, type[_JsonLines | _ParquetFile]] = {"jsonl": _JsonLines, "parquet": _ParquetFile}


def import_arrow() -> tuple[Any, Any]:
    """Return ``pyarrow`` and ``pyarrow.parquet``; raise `InvalidParameterError` if missing."""
    try:
        import pyarrow  # type: ignore[import-untyped]  # no stubs
        import pyarrow.parquet  # type: ignore[import-untyped]  # no stubs
    except ImportError as error:
        raise InvalidParameterError(
            f"Parquet files need pyarrow: {install_hint('parquet')}, or record to a .jsonl file"
        ) from error
    return pyarrow, pyarrow.parquet


def write_json_text(value: Any) -> str:
    """Return `value` as JSON text; raise `RecordingError` if any part has no JSON form."""
    try:
        return json.dumps(value, default=_plain)
    except (RecursionError, TypeError, ValueError) as error:
        raise RecordingError(f"cannot record a value without a JSON form: {error}") from error


def require_json(space: gymnasium.Space[Any] | None) -> None:
    """Raise `RecordingError` if the values of `space` cannot be written as JSON."""
    if space is not None:
        # Sample from a copy, to keep the random state of the user's space.
        write_json_text(space.to_jsonable([copy.deepcopy(space).sample()]))


def _plain(value: Any) -> Any:
    """Return a dictionary, list, number or string for a value that `json` cannot write."""
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.asdict(value)
    if isinstance(value, (np.ndarray, np.generic)):
        return cast(NDArray[Any], value).tolist()
    if isinstance(value, bytes):
        return value.hex()
    raise RecordingError(
        f"a {type(value).__name__} has no JSON form; choose an observation space of numbers, text, "
        "arrays, lists or dictionaries"
    )
