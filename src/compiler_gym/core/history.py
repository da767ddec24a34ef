# SPDX-License-Identifier: MIT
"""The actions and the reward of an episode, without its session."""

import time
from dataclasses import dataclass, field
from typing import Any

__all__ = ["History"]


@dataclass(slots=True)
class History:
    """One episode, from its reset to its end."""

    action_space: str
    """The name of the action space at the reset."""
    benchmark: str
    """The URI of the program."""
    actions: list[Any] = field(default_factory=list[Any])
    """The plain values of the actions applied, in order."""
    reward: float | None = None
    """The sum of the rewards of the environment's reward space."""
    started: float = field(default_factory=time.monotonic)
    running: bool = True
    """False after the compiler ended the episode, or failed."""
    concluded: bool = False
    """True if the compiler ended the episode: its program can still be observed."""

    @property
    def walltime(self) -> float:
        """Seconds since the reset."""
        return time.monotonic() - self.started

    def earn(self, reward: float | list[float] | None) -> None:
        """Add the reward of a step, or the sum of several; None adds nothing."""
        if reward is not None:
            earned = sum(reward) if isinstance(reward, list) else reward
            self.reward = earned + (self.reward or 0.0)

    def copy(self) -> "History":
        """Return an independent copy."""
        return History(
            action_space=self.action_space,
            benchmark=self.benchmark,
            actions=list(self.actions),
            reward=self.reward,
            started=self.started,
            running=self.running,
            concluded=self.concluded,
        )
