# SPDX-License-Identifier: MIT
"""Rewards for the change of an observation that is measured again each time."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from compiler_gym.spaces import Reward

__all__ = ["ChangeReward"]


class ChangeReward(Reward):
    """The increase of an observation since the last step, or the decrease if `falls` is set.

    Unlike :class:`CostReward` it keeps no sum, because two measurements of a program differ.
    `initial` is the observation of the program before any action, requested only if the reward
    did not get that itself; without it, the first observation earns nothing. `number` converts
    the observation to a number.

    >>> reward = ChangeReward("gain", "speed", deterministic=False)
    >>> reward.reset("benchmark://demo/1", {})
    >>> reward.start([2.0], {})
    >>> [reward.update([0], [speed], {}) for speed in (2.5, 4.5, 4.0)]
    [0.5, 2.0, -0.5]
    """

    def __init__(
        self,
        name: str,
        observation: str,
        *,
        deterministic: bool,
        initial: str | None = None,
        falls: bool = False,
        number: Callable[[Any], float] = float,
        platform_dependent: bool = True,
    ) -> None:
        super().__init__(
            name,
            observation_spaces=[observation],
            default_value=0,
            default_negates_returns=True,
            deterministic=deterministic,
            platform_dependent=platform_dependent,
        )
        change = "decrease" if falls else "increase"
        self.description = f"The {change} of `{observation}` since the last step."
        self.initial = initial
        self.falls = falls
        """True if a decrease is rewarded, not an increase."""
        self.number = number
        self.previous: float | None = None
        """The number of the last update, or of the start."""

    def reset(self, benchmark: str, observation_view: Mapping[str, Any]) -> None:
        """Forget the last episode."""
        self.previous = None

    def start(self, observations: Sequence[Any], observation_view: Mapping[str, Any]) -> None:
        """Store the observation of the program before any action."""
        self.previous = self.number(observations[0])

    def update(
        self,
        actions: Sequence[Any],
        observations: Sequence[Any],
        observation_view: Mapping[str, Any],
    ) -> float:
        """Return the increase of the observation, or its decrease."""
        now = self.number(observations[0])
        if self.previous is None:
            before = now if self.initial is None else self.number(observation_view[self.initial])
        else:
            before = self.previous
        self.previous = now
        return before - now if self.falls else now - before
