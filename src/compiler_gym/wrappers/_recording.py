# SPDX-License-Identifier: MIT
"""What an episode is on paper, and the wrapper that follows one: whoever keeps episodes derives.

`EpisodeStream` calls three methods: an episode starts, a step is taken, an episode ends. What
comes of them is the subclass's: rows, lines, numbers. An `EpisodeSink` takes whole episodes.
"""

import copy
import json
from collections.abc import Iterator
from typing import Any, Protocol, Self, cast

import gymnasium
import msgspec
import numpy as np
from numpy.typing import NDArray

from compiler_gym.core import ResetArguments, ResetResult, StepArguments, StepResult
from compiler_gym.errors import RecordingError
from compiler_gym.spaces import space_name, to_plain
from compiler_gym.wrappers.wrapper import CompilerEnvWrapper

__all__ = [
    "EpisodeRecord",
    "EpisodeSink",
    "EpisodeStream",
    "StepRecord",
    "json_of",
    "require_json",
]


class StepRecord(msgspec.Struct):
    """One call of `step` or `multistep`, in plain values."""

    actions: list[Any]
    reward: float | list[float] | None
    """None where the step alone asked for other spaces."""
    terminated: bool
    truncated: bool
    no_effect: bool
    error: str | None
    observation: Any
    """What the step led to, as the space's `to_jsonable` says it, or None as for `reward`."""


class EpisodeRecord(msgspec.Struct):
    """One episode. The names and order of all fields are those of a line of JSON."""

    benchmark: str
    action_space: str | None
    compiler_version: str
    seed: int | None
    observation: Any
    """The first one."""
    commandline: str = ""
    steps: list[StepRecord] = []

    def transitions(self) -> Iterator[tuple[Any, StepRecord]]:
        """Yield each step after what was observed before it."""
        before = self.observation
        for step in self.steps:
            yield before, step
            before = step.observation


class EpisodeSink(Protocol):
    """Where whole episodes go. All raise `OSError` or `RecordingError`; nothing is lost then."""

    def add(self, episode: EpisodeRecord, number: int) -> None:
        """Take the episode that is the `number`-th of its recorder, for `flush` to write."""
        ...

    def flush(self) -> None:
        """Write what was added and is not written yet."""
        ...

    def close(self) -> None:
        """Complete what was written and give it up. Calling it twice is fine."""
        ...

    def for_copy(self) -> Self | None:
        """Return where a fork of the recorder writes, or None if nowhere."""
        ...


class EpisodeStream(CompilerEnvWrapper):
    """Follows episodes; a subclass says what is done with them."""

    sees: bool = True
    """Whether observations are wanted; a subclass may say otherwise."""

    def episode_started(self, episode: EpisodeRecord) -> None:
        """Take what is known of an episode after its reset; it has no steps."""

    def step_taken(self, step: StepRecord) -> None:
        """Take a step of the episode."""

    def episode_ended(self) -> None:
        """Note that the steps so far were all. Called before the next reset."""

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
                    self._seen(observation),
                )
            )
        return observation, info

    def handle_step(self, asked: StepArguments) -> StepResult:
        """Apply `actions` and take note of what came of them."""
        result = super().handle_step(asked)
        observation, reward, terminated, truncated, info = result
        self.step_taken(
            StepRecord(
                [to_plain(action) for action in asked.actions],
                to_plain(reward) if asked.reward_spaces is None else None,
                terminated,
                truncated,
                no_effect=info.get("action_had_no_effect", False),
                error=info.get("error_details"),
                observation=self._seen(observation) if asked.observation_spaces is None else None,
            )
        )
        return result

    def _seen(self, observation: Any) -> Any:
        if not self.sees or observation is None or (space := self.observation_space) is None:
            return None
        return space.to_jsonable([observation])


def json_of(value: Any) -> str:
    """Return `value` as JSON text, or raise `RecordingError` if a part of it has no such form."""
    try:
        return json.dumps(value, default=_plain)
    except (RecursionError, TypeError, ValueError) as error:
        raise RecordingError(f"cannot record what has no JSON form: {error}") from error


def require_json(space: gymnasium.Space[Any] | None) -> None:
    """Raise `RecordingError` if the values of `space` have no JSON form."""
    if space is not None:
        # A copy: the random numbers of the user's own space stay as they are.
        json_of(space.to_jsonable([copy.deepcopy(space).sample()]))


def _plain(value: Any) -> Any:
    """Return what JSON has no form for as objects, lists and numbers."""
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
