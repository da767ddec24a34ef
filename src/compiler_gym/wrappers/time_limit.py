# SPDX-License-Identifier: MIT
"""A limit on the number of actions of an episode."""

import numpy as np

from compiler_gym.core import StepArguments, StepTuple
from compiler_gym.errors import InvalidParameterError
from compiler_gym.wrappers._below import Environment, action_count
from compiler_gym.wrappers.wrapper import CompilerEnvWrapper

__all__ = ["TimeLimit"]


class TimeLimit(CompilerEnvWrapper):
    """Truncate an episode after a number of actions.

    ``info["TimeLimit.truncated"]`` is then True, unless the episode ended by itself at that step.

    Args:
        env: The environment.
        max_episode_steps: The number of actions; None takes that of ``env.spec``.

    Raises:
        InvalidParameterError: The limit is not a number above 0, or there is none.
    """

    def __init__(self, env: Environment, max_episode_steps: int | None = None) -> None:
        super().__init__(env)
        if max_episode_steps is None and env.spec is not None:
            max_episode_steps = env.spec.max_episode_steps
        if isinstance(max_episode_steps, np.integer):
            max_episode_steps = int(max_episode_steps)
        if not isinstance(max_episode_steps, int) or max_episode_steps < 1:
            raise InvalidParameterError(
                f"max_episode_steps is {max_episode_steps!r}: expected a number of actions above 0"
            )
        self.max_episode_steps = max_episode_steps
        """The number of actions after which an episode is truncated."""
        self.elapsed_steps = 0
        """The number of actions of the episode so far."""

    def episode_began(self) -> None:
        """Count from 0, or from the actions that a replay has applied."""
        super().episode_began()
        self.elapsed_steps = action_count(self.env)

    def handle_step(self, asked: StepArguments) -> StepTuple:
        """Apply the actions, and truncate the episode at the limit."""
        seen, reward, terminated, truncated, info = super().handle_step(asked)
        self.elapsed_steps += len(asked.actions)
        if self.elapsed_steps >= self.max_episode_steps:
            info = {**info, "TimeLimit.truncated": not (terminated or truncated)}
            truncated = True
        return seen, reward, terminated, truncated, info
