# SPDX-License-Identifier: MIT
"""Writes episodes to a file as they end: JSON lines, or Parquet.

Nothing is written in the middle of an episode, and what a full disk cuts short is taken
back, so a file never holds half of one line. A recorder that cannot write says so with
`RecordingError`.
"""

import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from compiler_gym.core import ResetArguments, ResetResult, StepArguments, StepResult
from compiler_gym.errors import InvalidParameterError, RecordingError
from compiler_gym.files import append
from compiler_gym.spaces import space_name, to_plain
from compiler_gym.wrappers._below import Environment
from compiler_gym.wrappers._recording import json_of, require_json
from compiler_gym.wrappers._recording_parquet import ParquetFile
from compiler_gym.wrappers.copying import Lasting, State
from compiler_gym.wrappers.wrapper import CompilerEnvWrapper

__all__ = ["EpisodeRecorder"]

Format = Literal["jsonl", "parquet"]
_SUFFIXES: dict[str, Format] = {".jsonl": "jsonl", ".json": "jsonl", ".parquet": "parquet"}
_KEPT = "the episode is tried again with the next"
_LOST = "what was not yet written is lost"


class EpisodeRecorder(CompilerEnvWrapper):
    """Record every episode to `path`.

    JSON lines are appended, one episode each: ``benchmark``, ``action_space``,
    ``commandline``, ``compiler_version``, ``observation`` (the first), ``steps`` (each with
    ``actions``, ``reward``, ``terminated``, ``truncated``, ``no_effect``, ``error`` and
    ``observation``). Several recorders may share the file.

    Parquet has one row per step with the same columns and the numbers of ``episode`` and
    ``step``; several rewards are in the column ``rewards``, and observations are JSON text.
    It is a new file, complete after `close`, and one recorder's alone until then.

    An episode is written when the next one begins, or by `close`; forks and pickled copies
    write their own, with all steps since the reset, to the same JSON lines. They write no
    Parquet.

    Raises `RecordingError` when the file cannot be written, or when what is observed has no
    JSON form. A `reset` that cannot write the last episode raises after it has begun the new
    one, which is recorded; the last one is tried again with the next write.
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
        if self._format not in ("jsonl", "parquet"):
            raise InvalidParameterError(
                f"cannot tell the format of {self.path.name}: expected .jsonl or .parquet"
            )
        self._sees = observations
        if observations:
            require_json(self.observation_space)
        self._episode: dict[str, Any] | None = None
        self._output = _Output()
        if self._format == "parquet":
            self._guarded(self._claim, "expected a file that can be written")

    def handle_reset(self, asked: ResetArguments) -> ResetResult:
        """Write the last episode and start another."""
        try:
            self._write()
        finally:  # the environment and the record agree on the episode, whatever the file does
            observation, info = super().handle_reset(asked)
            self._note_reset(observation, asked.seed)
        return observation, info

    def handle_step(self, asked: StepArguments) -> StepResult:
        """Apply `actions` and take note of what came of them."""
        result = super().handle_step(asked)
        if self._episode is not None and not self._output.is_written:
            seen, reward, terminated, truncated, info = result
            step = {
                "actions": [to_plain(action) for action in asked.actions],
                "reward": to_plain(reward) if asked.reward_spaces is None else None,
                "terminated": terminated,
                "truncated": truncated,
                "no_effect": info.get("action_had_no_effect", False),
                "error": info.get("error_details"),
                "observation": None if asked.observation_spaces is not None else self._plain(seen),
            }
            self._episode["steps"].append(step)
            self._episode["commandline"] = self.below.commandline()
        return result

    def flush(self) -> None:
        """Write the last episode now, not when the next begins; what follows is left out."""
        self._write()

    def close(self) -> None:
        """Write the last episode, finish the file and close the environment."""
        try:
            try:
                self._write(_LOST)
            finally:
                if self._output.parquet is not None:
                    self._guarded(self._output.parquet.close, _LOST)
        finally:
            self._output.late = b""
            super().close()

    def _claim(self) -> None:
        self._output.parquet = ParquetFile(self.path)
        weakref.finalize(self, self._output.parquet.close)

    def _note_reset(self, observation: Any, seed: int | None) -> None:
        seen = self._plain(observation)
        json_of(seen)
        self._output.is_written = False
        self._episode = {
            "benchmark": str(self.benchmark),
            "action_space": space_name(self.action_space),
            "compiler_version": self.below.compiler_version,
            "seed": seed,
            "observation": seen,
            "commandline": "",
            "steps": [],
        }

    def _plain(self, observation: Any) -> Any:
        space = self.observation_space
        if not self._sees or observation is None or space is None:
            return None
        return space.to_jsonable([observation])

    def _write(self, otherwise: str = _KEPT) -> None:
        episode, self._episode = self._episode, None
        output = self._output
        is_written, output.is_written = output.is_written, True  # an undo brings the steps back
        if episode is not None and episode["steps"] and not is_written:
            self._encode(episode)
        self._guarded(self._write_encoded, otherwise)

    def _encode(self, episode: dict[str, Any]) -> None:
        if self._format == "jsonl":
            self._output.late += (json_of(episode) + "\n").encode()
        elif self._output.parquet is not None:
            self._output.parquet.add(_rows(episode, self._output.episodes))
        self._output.episodes += 1

    def _write_encoded(self) -> None:
        output = self._output
        if output.parquet is not None:
            output.parquet.flush()
        if not output.late:
            return
        append(self.path, output.late)
        output.late = b""

    def _guarded(self, write: Callable[[], None], otherwise: str) -> None:
        try:
            write()
        except RecordingError:
            raise
        except OSError as error:
            raise RecordingError(
                f"cannot record to {self.path}: {error.strerror or error}; {otherwise}"
            ) from error


@dataclass
class _Output(Lasting):
    """What was written, and what is still to be; a copy has no open file and owes nothing."""

    episodes: int = 0
    """How many were written."""
    is_written: bool = False
    """Whether the episode under way was."""
    late: bytes = b""
    """Lines that could not be written yet."""
    parquet: ParquetFile | None = None

    def __getstate__(self) -> State:
        return {"episodes": self.episodes, "is_written": self.is_written}


def _rows(episode: dict[str, Any], number: int) -> list[dict[str, Any]]:
    return [
        {
            "episode": number,
            "step": place,
            "benchmark": episode["benchmark"],
            "actions": json_of(step["actions"]),
            "reward": None if isinstance(step["reward"], list) else step["reward"],
            "rewards": step["reward"] if isinstance(step["reward"], list) else None,
            "terminated": step["terminated"],
            "truncated": step["truncated"],
            "no_effect": step["no_effect"],
            "error": step["error"],
            "observation": _text(before),
            "next_observation": _text(step["observation"]),
        }
        for place, (before, step) in enumerate(_pairs(episode))
    ]


def _pairs(episode: dict[str, Any]) -> Iterable[tuple[Any, dict[str, Any]]]:
    before = episode["observation"]
    for step in episode["steps"]:
        yield before, step
        before = step["observation"]


def _text(observation: Any) -> str | None:
    return None if observation is None else json_of(observation)
