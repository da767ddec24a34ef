# SPDX-License-Identifier: MIT
"""A reward computed by a function, without writing a class."""

from collections.abc import Callable, Mapping
from collections.abc import Sequence as ListLike
from typing import Any

from compiler_gym.spaces.reward import Reward

__all__ = ["FunctionReward"]


class FunctionReward(Reward):
    """The result of a function of an observation before and after an action.

    With several names it gets two lists. It is called only when both values exist: an
    observation that was not made at the reset earns nothing the first time.

    >>> reward = FunctionReward("halved", "IrInstructionCount", lambda before, now: before / now)
    >>> reward.reset("benchmark://demo/1", {})
    >>> reward.start([80], {})
    >>> reward.update([0], [40], {})
    2.0
    """

    def __init__(
        self,
        name: str,
        observation_space: str | ListLike[str],
        function: Callable[[Any, Any], float],
        **properties: Any,
    ) -> None:
        self._is_single = isinstance(observation_space, str)
        names = [observation_space] if isinstance(observation_space, str) else observation_space
        super().__init__(name, observation_spaces=names, **properties)
        self.function = function
        """The function, called with the observations before and after."""
        self.previous: ListLike[Any] | None = None
        """The observations of the last update, or None before the first."""

    def reset(self, benchmark: str, observation_view: Mapping[str, Any]) -> None:
        """Forget the last episode."""
        self.previous = None

    def start(self, observations: ListLike[Any], observation_view: Mapping[str, Any]) -> None:
        """Store the observations of the program before any action."""
        self.previous = list(observations)

    def update(
        self,
        actions: ListLike[Any],
        observations: ListLike[Any],
        observation_view: Mapping[str, Any],
    ) -> float:
        """Return the result of the function."""
        before, self.previous = self.previous, list(observations)
        if before is None:
            return 0.0
        if self._is_single:
            return float(self.function(before[0], observations[0]))
        return float(self.function(before, self.previous))
