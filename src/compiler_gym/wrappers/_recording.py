# SPDX-License-Identifier: MIT
"""The record of an episode, and the wrapper from which everything that records episodes derives.

`EpisodeStream` calls three methods of its subclass: when an episode starts, when a step is taken
and when the episode ends. An `EpisodeSink` takes whole episodes.
"""

import copy
import json
from collections.abc import Iterator
from typing import Any, Protocol, Self, cast

import gymnasium
import msgspec
import numpy as np
from numpy.typing import NDArray

from compiler_gym.core import ResetArguments, ResetResult, StepArguments, StepTuple
from compiler_gym.errors import RecordingError
from compiler_gym.spaces import space_name, to_plain
from compiler_gym.wrappers.wrapper import CompilerEnvWrapper

__all__ = [
    "EpisodeRecord",
    "EpisodeSink",
    "EpisodeStream",
    "StepRecord",
    "require_json",
    "write_json_text",
]


class StepRecord(msgspec.Struct):
    """One call of `step` or `multistep`, in plain values."""

    actions: list[Any]
    reward: float | list[float] | None
    """None if the step asked for reward spaces of its own."""
    terminated: bool
    truncated: bool
    no_effect: bool
    error: str | None
    observation: Any
    """The observation after the step, as the space's `to_jsonable` writes it; None if the step
    asked for observation spaces of its own."""
    error_type: str | None = None
    """The class of the error, if the step failed."""


class EpisodeRecord(msgspec.Struct):
    """One episode. The fields have the names and the order of a line of JSON."""

    benchmark: str
    action_space: str | None
    compiler_version: str
    seed: int | None
    observation: Any
    """The first observation."""
    commandline: str = ""
    steps: list[StepRecord] = []

    def transitions(self) -> Iterator[tuple[Any, StepRecord]]:
        """Yield the observation before each step, and the step."""
        before = self.observation
        for step in self.steps:
            yield before, step
            before = step.observation


class EpisodeSink(Protocol):
    """Writes whole episodes. Every method may raise `OSError` or `RecordingError`; then nothing is
    lost."""

    def add(self, episode: EpisodeRecord, number: int) -> None:
        """Take an episode, for `flush` to write.

        Args:
            episode: The episode.
            number: Its number among those of the recorder.
        """
        ...

    def flush(self) -> None:
        """Write the episodes that are not written yet."""
        ...

    def close(self) -> None:
        """Complete the file and close it. Calling it twice is fine."""
        ...

    def for_copy(self) -> Self | None:
        """Return the sink of a fork of the recorder; None if forks write nothing."""
        ...


class EpisodeStream(CompilerEnvWrapper):
    """Reports episodes and steps to the methods of a subclass."""

    sees: bool = True
    """True if observations are recorded."""
    step_record: type[StepRecord] = StepRecord
    """What a step is recorded as: a subclass may add fields, with defaults."""

    def episode_started(self, episode: EpisodeRecord) -> None:
        """Called when an episode has started; `episode` has no steps."""

    def step_taken(self, step: StepRecord) -> None:
        """Called after a step."""

    def episode_ended(self) -> None:
        """Called before the next reset: the episode has no more steps."""

    def handle_reset(self, asked: ResetArguments) -> ResetResult:
        """End the last episode and start another."""
        try:
            self.episode_ended()
        finally:  # the environment and the record agree on the episode, whatever the sink does
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
        """Return an observation as it is recorded: plain values, unless a subclass says else."""
        if not self.sees or observation is None or (space := self.observation_space) is None:
            return None
        return space.to_jsonable([observation])


def write_json_text(value: Any) -> str:
    """Return `value` as JSON text, or raise `RecordingError` if a part of it cannot be JSON."""
    try:
        return json.dumps(value, default=_plain)
    except (RecursionError, TypeError, ValueError) as error:
        raise RecordingError(f"cannot record what has no JSON form: {error}") from error


def require_json(space: gymnasium.Space[Any] | None) -> None:
    """Raise `RecordingError` if the values of `space` cannot be written as JSON."""
    if space is not None:
        # A copy: the random numbers of the user's own space stay as they are.
        write_json_text(space.to_jsonable([copy.deepcopy(space).sample()]))


def _plain(value: Any) -> Any:
    """Return objects, lists or numbers for a value that `json` cannot write."""
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.asdict(value)
    if isinstance(value, (np.ndarray, np.generic)):
        return cast(NDArray[Any], value).tolist()
    if isinstance(value, bytes):
        return value.hex()
    raise RecordingError(
        f"a {type(value).__name__} has no JSON form: expected an observation of numbers, text, "
        "arrays, lists or dictionaries; choose another observation space"
    )
