# SPDX-License-Identifier: MIT
"""Observations for agents: the last actions, the fraction of steps left, and scaled counts.

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
from compiler_gym.wrappers.conversions import ObservationWrapper
from compiler_gym.wrappers.layers import (
    Environment,
    MadeSpace,
    action_count,
    find_observation_space,
)
from compiler_gym.wrappers.wrapper import CompilerEnvWrapper


class _Extra(CompilerEnvWrapper):
    """A wrapper that adds one key to the observation."""

    key: str
    """The key of the added observation."""
    _made: MadeSpace | None = None

    @abstractmethod
    def extra_space(self) -> gymnasium.Space[Any]:
        """Return the space of the added observation."""

    @abstractmethod
    def extra(self) -> Any:
        """Return the current value of the added observation."""

    @abstractmethod
    def took(self, actions: list[Any]) -> None:
        """Called after a step of `actions`."""

    @property
    def observation_space(self) -> gymnasium.Space[Any]:  # type: ignore[override]  # never None
        """The dictionary of the observation below and the added one."""
        below = find_observation_space(self.env)
        if self._made is not None and self._made.of is below:  # keeps its seed
            return self._made.space
        inner = _parts(below)
        if self.key in inner:
            raise InvalidParameterError(
                f"an observation {self.key!r} exists already; remove the other wrapper"
            )
        space = Dict([*inner.items(), (self.key, self.extra_space())], name="observations")
        self._made = MadeSpace(below, space)
        return space

    @observation_space.setter
    def observation_space(self, value: Any) -> None:  # type: ignore[override]  # an attribute there
        self.below.observation_space = value

    def handle_reset(self, asked: ResetArguments) -> ResetResult:
        """Start an episode and extend its observation."""
        observation, info = super().handle_reset(asked)
        return self._join(observation), info

    def handle_step(self, asked: StepArguments) -> StepTuple:
        """Apply the actions and extend the observation."""
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
    """A wrapper that adds ``action_history``: the last `length` actions, newest last.

    The history is int64[length]. Each element is the number of an action; n, the number of actions,
    marks an empty position. Flattened, each element becomes a one-hot vector of length n + 1.
    """

    key = "action_history"

    def __init__(self, env: Environment, length: int = 8) -> None:
        super().__init__(env)
        if length < 1:
            raise InvalidParameterError(f"length must be at least 1 (got {length})")
        self._length = length
        self._recent: list[int] = []
        self.extra_space()

    def extra_space(self) -> gymnasium.Space[Any]:
        """Return the space of the history."""
        return MultiDiscrete([self._no_action + 1] * self._length, self.key)

    def extra(self) -> NDArray[np.int64]:
        """Return the history."""
        last = self._recent[-self._length :]
        empty = [self._no_action] * (self._length - len(last))
        return np.array([*empty, *last], dtype=np.int64)

    def episode_began(self) -> None:
        """Clear the history, or fill it with the actions of a replay."""
        super().episode_began()
        try:
            self._recent = [int(action) for action in self.below.actions]
        except InvalidActionError:  # a replay may have used actions that are not offered here
            self._recent = []

    def took(self, actions: list[Any]) -> None:
        """Add the actions to the history."""
        self._recent = [*self._recent, *map(int, actions)][-self._length :]

    @property
    def _no_action(self) -> int:
        space = self.env.action_space
        if not isinstance(space, gymnasium.spaces.Discrete):
            raise InvalidParameterError(f"a history needs numbered actions (got {space!r})")
        return int(space.n)


class StepBudget(_Extra):
    """A wrapper that adds ``steps_left``: the fraction of steps left, from 1 to 0, float32[1].

    It does not end the episode; `TimeLimit` does.

    Args:
        env: The environment.
        steps: The number of steps; None uses the limit of the `TimeLimit` below.
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
                f"steps must be at least 1 (got {steps!r}); without it, wrap a TimeLimit"
            )
        self._steps = steps
        self._used = 0

    def extra_space(self) -> gymnasium.Space[Any]:
        """Return the space of the fraction."""
        return Box(0.0, 1.0, self.key, (1,), np.float32)

    def extra(self) -> NDArray[np.float32]:
        """Return the fraction of steps left."""
        return np.array([max(1.0 - self._used / self._steps, 0.0)], dtype=np.float32)

    def episode_began(self) -> None:
        """Start counting at 0, or at the number of actions of a replay."""
        super().episode_began()
        self._used = action_count(self.env)

    def took(self, actions: list[Any]) -> None:
        """Count the actions."""
        self._used += len(actions)


class LogCounts(ObservationWrapper):
    """A wrapper that observes ``log(1 + count)``, float32: counts vary by orders of magnitude."""

    @property
    def observation_space(self) -> gymnasium.Space[Any]:  # type: ignore[override]  # never None
        """The space of the logarithms."""
        below = self.env.observation_space
        box = cast(Any, below)  # Gymnasium's bounds are untyped
        if not isinstance(below, gymnasium.spaces.Box) or (box.low < 0).any():
            raise InvalidParameterError(
                f"LogCounts needs an observation of non-negative numbers (got {below!r})"
            )
        high = np.nextafter(np.log1p(box.high.astype(np.float64)), np.inf).astype(np.float32)
        return Box(np.zeros_like(high), np.nextafter(high, np.float32(np.inf)), "log-counts")

    @observation_space.setter
    def observation_space(self, value: Any) -> None:  # type: ignore[override]  # an attribute there
        self.below.observation_space = value

    def convert_observation(self, observation: Any) -> NDArray[np.float32]:
        """Return the logarithms."""
        return np.log1p(np.asarray(observation, dtype=np.float64)).astype(np.float32)
