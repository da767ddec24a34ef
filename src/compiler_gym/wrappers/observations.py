# SPDX-License-Identifier: MIT
"""Observations for agents: the last actions, the share of steps that is left, scaled counts.

`ActionHistory` and `StepBudget` add a key to a dictionary of observations; an observation that is
not a dictionary becomes its key ``observation``. ``gymnasium.wrappers.FlattenObservation`` turns
the dictionary into one vector.
"""

from abc import abstractmethod
from typing import Any, cast

import gymnasium
import numpy as np
from numpy.typing import NDArray

from compiler_gym.core import ResetArguments, ResetResult, StepArguments, StepTuple
from compiler_gym.errors import InvalidActionError, InvalidParameterError
from compiler_gym.spaces import Box, Dict, MultiDiscrete
from compiler_gym.wrappers._below import Environment, action_count, find_observation_space
from compiler_gym.wrappers.conversions import ObservationWrapper
from compiler_gym.wrappers.copying import MadeSpace
from compiler_gym.wrappers.wrapper import CompilerEnvWrapper

__all__ = ["ActionHistory", "LogCounts", "StepBudget"]


class _Extra(CompilerEnvWrapper):
    """Adds one key to the observation."""

    key: str
    """The key of the added observation."""
    _made: MadeSpace | None = None

    @abstractmethod
    def extra_space(self) -> gymnasium.Space[Any]:
        """Return the space of the added observation."""

    @abstractmethod
    def extra(self) -> Any:
        """Return the added observation as it is now."""

    @abstractmethod
    def took(self, actions: list[Any]) -> None:
        """Called after a step of `actions`."""

    @property
    def observation_space(self) -> gymnasium.Space[Any]:  # type: ignore[override]  # never None
        """A dictionary of the observation below and the added one."""
        below = find_observation_space(self.env)
        if self._made is not None and self._made.of is below:  # its seed is kept
            return self._made.space
        inner = _parts(below)
        if self.key in inner:
            raise InvalidParameterError(f"there is an observation {self.key!r} already")
        made = Dict([*inner.items(), (self.key, self.extra_space())], name="observations")
        self._made = MadeSpace(below, made)
        return made

    @observation_space.setter
    def observation_space(self, value: Any) -> None:  # type: ignore[override]  # an attribute there
        self.below.observation_space = value

    def handle_reset(self, asked: ResetArguments) -> ResetResult:
        """Start an episode and add to its observation."""
        observation, info = super().handle_reset(asked)
        return self._join(observation), info

    def handle_step(self, asked: StepArguments) -> StepTuple:
        """Apply the actions and add to the observation."""
        result = super().handle_step(asked)
        self.took(asked.actions)
        if asked.observation_spaces is not None:
            return result
        return self._join(result[0]), *result[1:]

    def _join(self, observation: Any) -> dict[str, Any]:
        below = find_observation_space(self.env)
        if isinstance(below, gymnasium.spaces.Dict):
            return {**observation, self.key: self.extra()}
        if below is None:
            return {self.key: self.extra()}
        return {"observation": observation, self.key: self.extra()}


def _parts(space: gymnasium.Space[Any] | None) -> dict[str, gymnasium.Space[Any]]:
    """Return the observations below as the items of a dictionary."""
    if isinstance(space, gymnasium.spaces.Dict):
        return dict(cast("gymnasium.spaces.Dict[Any]", space).spaces)
    return {} if space is None else {"observation": space}


class ActionHistory(_Extra):
    """Add ``action_history``: the last `length` actions, the newest last, int64[length].

    Each element is the number of an action, or n, the number of actions, where none was taken yet.
    Flattened, each becomes a one-hot vector of n + 1.
    """

    key = "action_history"

    def __init__(self, env: Environment, length: int = 8) -> None:
        super().__init__(env)
        if length < 1:
            raise InvalidParameterError(f"length is {length}: expected at least 1")
        self._length = length
        self._taken: list[int] = []
        self.extra_space()

    def extra_space(self) -> gymnasium.Space[Any]:
        """Return the space of the history."""
        return MultiDiscrete([self._nothing + 1] * self._length, self.key)

    def extra(self) -> NDArray[np.int64]:
        """Return the history."""
        last = self._taken[-self._length :]
        empty = [self._nothing] * (self._length - len(last))
        return np.array([*empty, *last], dtype=np.int64)

    def episode_began(self) -> None:
        """Forget the history, or take over the actions that a replay has applied."""
        super().episode_began()
        try:
            self._taken = [int(action) for action in self.below.actions]
        except InvalidActionError:  # a replay of actions that are not offered here
            self._taken = []

    def took(self, actions: list[Any]) -> None:
        """Add the actions to the history."""
        self._taken = [*self._taken, *map(int, actions)][-self._length :]

    @property
    def _nothing(self) -> int:
        space = self.env.action_space
        if not isinstance(space, gymnasium.spaces.Discrete):
            raise InvalidParameterError(f"a history needs numbered actions, found {space!r}")
        return int(space.n)


class StepBudget(_Extra):
    """Add ``steps_left``: the share of an episode's steps that is left, from 1 to 0, float32[1].

    It does not end the episode; `TimeLimit` does.

    Args:
        env: The environment.
        steps: The number of steps; None takes the limit of the `TimeLimit` below.
    """

    key = "steps_left"

    def __init__(self, env: Environment, steps: int | None = None) -> None:
        super().__init__(env)
        if steps is None:
            steps = getattr(self, "max_episode_steps", None)
        if isinstance(steps, np.integer):
            steps = int(steps)
        if not isinstance(steps, int) or steps < 1:
            raise InvalidParameterError(
                f"steps is {steps!r}: expected a number above 0, or a TimeLimit below"
            )
        self._steps = steps
        self._used = 0

    def extra_space(self) -> gymnasium.Space[Any]:
        """Return the space of the share."""
        return Box(0.0, 1.0, self.key, (1,), np.float32)

    def extra(self) -> NDArray[np.float32]:
        """Return the share."""
        return np.array([max(1.0 - self._used / self._steps, 0.0)], dtype=np.float32)

    def episode_began(self) -> None:
        """Count from 0, or from the actions that a replay has applied."""
        super().episode_began()
        self._used = action_count(self.env)

    def took(self, actions: list[Any]) -> None:
        """Count the actions."""
        self._used += len(actions)


class LogCounts(ObservationWrapper):
    """Observe ``log(1 + count)`` as float32, because counts of programs differ by factors."""

    @property
    def observation_space(self) -> gymnasium.Space[Any]:  # type: ignore[override]  # never None
        """The space of the logarithms."""
        below = self.env.observation_space
        box = cast(Any, below)  # Gymnasium gives the bounds no type
        if not isinstance(below, gymnasium.spaces.Box) or (box.low < 0).any():
            raise InvalidParameterError(
                f"expected an array of numbers from 0 up to observe, found {below!r}"
            )
        high = np.nextafter(np.log1p(box.high.astype(np.float64)), np.inf).astype(np.float32)
        return Box(np.zeros_like(high), np.nextafter(high, np.float32(np.inf)), "log-counts")

    @observation_space.setter
    def observation_space(self, value: Any) -> None:  # type: ignore[override]  # an attribute there
        self.below.observation_space = value

    def convert_observation(self, observation: Any) -> NDArray[np.float32]:
        """Return the logarithms."""
        return np.log1p(np.asarray(observation, dtype=np.float64)).astype(np.float32)
