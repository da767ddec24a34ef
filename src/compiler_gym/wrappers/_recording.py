# SPDX-License-Identifier: MIT
"""The record of an episode, and the base class of wrappers that record episodes.

`EpisodeStream` calls three methods of its subclass: at the start of an episode, after a step and at
the end of the episode. An `EpisodeSink` receives whole episodes.
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


class EpisodeSink(Protocol):
    """A writer of whole episodes. Any method may raise `OSError` or `RecordingError`; no data is
    lost then."""

    def add(self, episode: EpisodeRecord, number: int) -> None:
        """Add an episode, which `flush` writes.

        Args:
            episode: The episode.
            number: Its number in this recorder.
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
