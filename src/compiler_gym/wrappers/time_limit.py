# SPDX-License-Identifier: MIT
"""A limit on the number of actions in an episode."""

import numpy as np

from compiler_gym.core import StepArguments, StepTuple
from compiler_gym.errors import InvalidParameterError
from compiler_gym.wrappers._below import Environment, action_count
from compiler_gym.wrappers.wrapper import CompilerEnvWrapper

__all__ = ["TimeLimit"]


class TimeLimit(CompilerEnvWrapper):
    """A wrapper that truncates an episode after a number of actions.

    ``info["TimeLimit.truncated"]`` is then True, unless the episode ends by itself at that step.

    Args:
        env: The environment.
        max_episode_steps: The number of actions; None uses that of ``env.spec``.

    Raises:
        InvalidParameterError: The limit is missing or not at least 1.
    """

    def __init__(self, env: Environment, max_episode_steps: int | None = None) -> None:
        super().__init__(env)
        if max_episode_steps is None and env.spec is not None:
            max_episode_steps = env.spec.max_episode_steps
        if isinstance(max_episode_steps, np.integer):
            max_episode_steps = int(max_episode_steps)
        if not isinstance(max_episode_steps, int) or max_episode_steps < 1:
            raise InvalidParameterError(
                f"max_episode_steps must be at least 1 (got {max_episode_steps!r})"
            )
        self.max_episode_steps = max_episode_steps
        """The number of actions after which an episode is truncated."""
        self.elapsed_steps = 0
        """The number of actions in the episode so far."""

    def episode_began(self) -> None:
        """Start counting at 0, or at the number of actions of a replay."""
        super().episode_began()
        self.elapsed_steps = action_count(self.env)

    def handle_step(self, asked: StepArguments) -> StepTuple:
        """Apply the actions, and truncate the episode at the limit."""
        observation, reward, terminated, truncated, info = super().handle_step(asked)
        self.elapsed_steps += len(asked.actions)
        if self.elapsed_steps >= self.max_episode_steps:
            info = {**info, "TimeLimit.truncated": not (terminated or truncated)}
            truncated = True
        return observation, reward, terminated, truncated, info
