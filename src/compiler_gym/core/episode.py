# SPDX-License-Identifier: MIT
"""The numbers of one episode: what was done, earned and spent."""

import time
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Episode"]


@dataclass(slots=True)
class Episode:
    """One episode, from reset to its end."""

    action_space: str
    benchmark: str
    """The URI of the program."""
    actions: list[Any] = field(default_factory=list)
    """The plain values of the actions applied, in order."""
    reward: float | None = None
    """The sum of the rewards of the environment's reward space."""
    started: float = field(default_factory=time.monotonic)
    running: bool = True
    """False once the compiler ended it or failed."""

    @property
    def walltime(self) -> float:
        """Seconds since the reset."""
        return time.monotonic() - self.started

    def earn(self, reward: float | list[float] | None) -> None:
        """Add what a step of the environment's own reward space gave, if one is set."""
        if reward is not None:
            earned = sum(reward) if isinstance(reward, list) else reward
            self.reward = earned + (self.reward or 0.0)

    def fork(self) -> "Episode":
        """Return a copy that goes its own way."""
        return Episode(
            self.action_space,
            self.benchmark,
            list(self.actions),
            self.reward,
            self.started,
            self.running,
        )
