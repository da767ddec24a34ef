# SPDX-License-Identifier: MIT
"""Writes episodes to a file as they end: JSON lines, or Parquet.

Nothing is written in the middle of an episode, so a file never holds half of one
line. A recorder that cannot write says so with `RecordingError`.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from compiler_gym.errors import InvalidParameterError, RecordingError
from compiler_gym.spaces import to_plain
from compiler_gym.wrappers.wrapper import CompilerEnvWrapper, StepResult

__all__ = ["EpisodeRecorder"]

Format = Literal["jsonl", "parquet"]
_SUFFIXES: dict[str, Format] = {".jsonl": "jsonl", ".json": "jsonl", ".parquet": "parquet"}


class EpisodeRecorder(CompilerEnvWrapper):
    """Record every episode to `path`.

    JSON lines are appended, one episode each: ``benchmark``, ``action_space``,
    ``commandline``, ``compiler_version``, ``observation`` (the first), ``steps`` (each with
    ``actions``, ``reward``, ``terminated``, ``truncated``, ``no_effect``, ``error`` and
    ``observation``). Parquet has one row per step with the same columns and the numbers of
    ``episode`` and ``step``; it is a new file, complete after `close`. Observations are JSON
    text there.

    An episode is written when the next one begins, or by `close`; forks write their own,
    with all steps since the reset, to the same JSON lines. Forks write no Parquet.
    """

    left_out: ClassVar[frozenset[str]] = frozenset({"_writer"})

    def __init__(
        self,
        env: Any,
        path: str | Path,
        format: Format | None = None,
        observations: bool = True,
    ) -> None:
        super().__init__(env)
        self.path = Path(path).expanduser()
        """The file."""
        self._format = format or _SUFFIXES.get(self.path.suffix)
        if self._format not in ("jsonl", "parquet"):
            raise InvalidParameterError(
                f"cannot tell the format of {self.path.name}: expected .jsonl or .parquet"
            )
        self._sees = observations
        self._episode: dict[str, Any] | None = None
        self._episodes = 0
        self._writer: Any = None
        self._is_fork = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None, **arguments: Any
    ) -> tuple[Any, dict[str, Any]]:
        """Write the last episode and start another."""
        self._write()
        observation, info = super().reset(seed=seed, options=options, **arguments)
        self._episode = {
            "benchmark": str(self._of("benchmark").uri),
            "action_space": getattr(self.action_space, "name", None),
            "compiler_version": self._of("compiler_version"),
            "seed": seed,
            "observation": self._plain(observation),
            "commandline": "",
            "steps": [],
        }
        return observation, info

    def multistep(
        self,
        actions: Iterable[Any],
        observation_spaces: Any = None,
        reward_spaces: Any = None,
        *,
        timeout: float | None = None,
    ) -> StepResult:
        """Apply `actions` and take note of what came of them."""
        several = list(actions)
        result = super().multistep(several, observation_spaces, reward_spaces, timeout=timeout)
        if self._episode is not None:
            seen, reward, terminated, truncated, info = result
            step = {
                "actions": [to_plain(action) for action in several],
                "reward": reward if reward_spaces is None else None,
                "terminated": terminated,
                "truncated": truncated,
                "no_effect": info.get("action_had_no_effect", False),
                "error": info.get("error_details"),
                "observation": None if observation_spaces is not None else self._plain(seen),
            }
            self._episode["steps"].append(step)
            self._episode["commandline"] = self._of("commandline")()
        return result

    def flush(self) -> None:
        """Write the last episode now, not when the next begins; what follows is left out."""
        self._write()

    def close(self) -> None:
        """Write the last episode, finish the file and close the environment."""
        try:
            self._write()
            writer, self._writer = self._writer, None
            if writer is not None:
                self._guarded(writer.close)
        finally:
            super().close()

    def _fork_around(self, below: Any) -> Any:
        twin = super()._fork_around(below)
        twin._is_fork = True
        return twin

    def _plain(self, observation: Any) -> Any:
        if not self._sees or observation is None:
            return None
        space = self.observation_space
        return _jsonable(space.to_jsonable([observation])) if space is not None else None

    def _write(self) -> None:
        episode, self._episode = self._episode, None
        if episode is None or not episode["steps"]:
            return
        self._episodes += 1
        if self._format == "jsonl":
            self._guarded(self._append, episode)
        elif not self._is_fork:
            self._guarded(self._write_rows, episode)

    def _guarded(self, write: Any, *arguments: Any) -> None:
        try:
            write(*arguments)
        except OSError as error:
            self._writer = None
            raise RecordingError(
                f"cannot record to {self.path}: {error.strerror or error}; the episode is lost"
            ) from error

    def _append(self, episode: dict[str, Any]) -> None:
        line = json.dumps(episode, default=_jsonable) + "\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # One write of a whole line: several processes may share the file.
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            data = line.encode()
            written = os.write(descriptor, data)
            if written < len(data):
                os.write(descriptor, data[written:])
        finally:
            os.close(descriptor)

    def _write_rows(self, episode: dict[str, Any]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as parquet

        rows = [
            {
                "episode": self._episodes - 1,
                "step": number,
                "benchmark": episode["benchmark"],
                "actions": json.dumps(step["actions"], default=_jsonable),
                "reward": step["reward"],
                "terminated": step["terminated"],
                "truncated": step["truncated"],
                "no_effect": step["no_effect"],
                "error": step["error"],
                "observation": _text(before),
                "next_observation": _text(step["observation"]),
            }
            for number, (before, step) in enumerate(_pairs(episode))
        ]
        schema = pa.schema(
            [
                ("episode", pa.int64()),
                ("step", pa.int32()),
                ("benchmark", pa.string()),
                ("actions", pa.string()),
                ("reward", pa.float64()),
                ("terminated", pa.bool_()),
                ("truncated", pa.bool_()),
                ("no_effect", pa.bool_()),
                ("error", pa.string()),
                ("observation", pa.string()),
                ("next_observation", pa.string()),
            ]
        )
        if self._writer is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = parquet.ParquetWriter(self.path, schema)
        self._writer.write_table(pa.Table.from_pylist(rows, schema))


def _pairs(episode: dict[str, Any]) -> Iterable[tuple[Any, dict[str, Any]]]:
    before = episode["observation"]
    for step in episode["steps"]:
        yield before, step
        before = step["observation"]


def _text(observation: Any) -> str | None:
    return None if observation is None else json.dumps(observation, default=_jsonable)


def _jsonable(value: Any) -> Any:
    """Return what JSON has no form for as lists and numbers."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, bytes):
        return value.hex()
    return value if isinstance(value, (dict, list, str, int, float, bool)) else str(value)
