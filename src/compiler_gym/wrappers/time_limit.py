# SPDX-License-Identifier: MIT
"""An end to episodes that have none of their own."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from compiler_gym.errors import InvalidParameterError
from compiler_gym.wrappers._below import action_count
from compiler_gym.wrappers.wrapper import CompilerEnvWrapper, StepResult

__all__ = ["TimeLimit"]


class TimeLimit(CompilerEnvWrapper):
    """Truncate an episode after a number of actions.

    Without `max_episode_steps` the limit is that of ``env.spec``. ``info`` then has
    ``TimeLimit.truncated``: True unless the episode ended by itself at that step.
    """

    def __init__(self, env: Any, max_episode_steps: int | None = None) -> None:
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
        """How many actions an episode has."""
        self.elapsed_steps = 0
        """How many it has had."""

    def episode_began(self) -> None:
        """Count from the start, or from what a replay has applied."""
        super().episode_began()
        self.elapsed_steps = action_count(self.env)

    def multistep(
        self,
        actions: Iterable[Any],
        observation_spaces: Any = None,
        reward_spaces: Any = None,
        *,
        timeout: float | None = None,
    ) -> StepResult:
        """Apply `actions`, and truncate if the limit is reached."""
        several = list(actions)
        seen, reward, terminated, truncated, info = super().multistep(
            several, observation_spaces, reward_spaces, timeout=timeout
        )
        self.elapsed_steps += len(several)
        if self.elapsed_steps >= self.max_episode_steps:
            info = {**info, "TimeLimit.truncated": not (terminated or truncated)}
            truncated = True
        return seen, reward, terminated, truncated, info
