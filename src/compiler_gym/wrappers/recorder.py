# SPDX-License-Identifier: MIT
"""Writes episodes to a file as they end: JSON lines, or Parquet.

Nothing is written in the middle of an episode, and what a full disk cuts short is taken
back, so a file never holds half of one line. A recorder that cannot write says so with
`RecordingError`.
"""

import fcntl
import os
import weakref
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar, Literal

from compiler_gym.errors import InvalidParameterError, RecordingError
from compiler_gym.spaces import to_plain
from compiler_gym.wrappers._recording import append, json_of, lock, opened, require_json
from compiler_gym.wrappers._recording_parquet import ParquetFile
from compiler_gym.wrappers.wrapper import CompilerEnvWrapper, StepResult

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

    left_out: ClassVar[frozenset[str]] = frozenset({"_parquet", "_late"})
    not_undone: ClassVar[frozenset[str]] = frozenset({"_episodes", "_is_written"})

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
        if observations:
            require_json(self.observation_space)
        self._episode: dict[str, Any] | None = None
        self._is_written = False
        self._episodes = 0
        self._late: bytes | None = None
        self._parquet: ParquetFile | None = None
        if self._format == "parquet":
            self._guarded(self._claim, "expected a file that can be written")

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None, **arguments: Any
    ) -> tuple[Any, dict[str, Any]]:
        """Write the last episode and start another."""
        try:
            self._write()
        finally:  # the environment and the record agree on the episode, whatever the file does
            observation, info = super().reset(seed=seed, options=options, **arguments)
            self._note_reset(observation, seed)
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
        if self._episode is not None and not self._is_written:
            seen, reward, terminated, truncated, info = result
            step = {
                "actions": [to_plain(action) for action in several],
                "reward": to_plain(reward) if reward_spaces is None else None,
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
            try:
                self._write(_LOST)
            finally:
                if self._parquet is not None:
                    self._guarded(self._parquet.close, _LOST)
        finally:
            self._late = None
            super().close()

    def _claim(self) -> None:
        self._parquet = ParquetFile(self.path)
        weakref.finalize(self, self._parquet.close)

    def _note_reset(self, observation: Any, seed: int | None) -> None:
        seen = self._plain(observation)
        json_of(seen)
        self._is_written = False
        self._episode = {
            "benchmark": str(self._of("benchmark").uri),
            "action_space": getattr(self.action_space, "name", None),
            "compiler_version": self._of("compiler_version"),
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
        is_written, self._is_written = self._is_written, True  # an undo brings the steps back
        if episode is not None and episode["steps"] and not is_written:
            self._encode(episode)
        self._guarded(self._write_encoded, otherwise)

    def _encode(self, episode: dict[str, Any]) -> None:
        if self._format == "jsonl":
            self._late = (self._late or b"") + (json_of(episode) + "\n").encode()
        elif self._parquet is not None:
            self._parquet.add(_rows(episode, self._episodes))
        self._episodes += 1

    def _write_encoded(self) -> None:
        if self._parquet is not None:
            self._parquet.flush()
        if not self._late:
            return
        file = opened(self.path)
        try:
            lock(file, fcntl.LOCK_EX)
            append(file, self._late)
        finally:
            os.close(file)
        self._late = None

    def _guarded(self, write: Callable[[], None], otherwise: str) -> None:
        try:
            write()
        except RecordingError:
            raise
        except OSError as error:
            raise RecordingError(
                f"cannot record to {self.path}: {error.strerror or error}; {otherwise}"
            ) from error


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
