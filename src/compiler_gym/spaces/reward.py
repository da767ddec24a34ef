# SPDX-License-Identifier: MIT
"""The contract of a reward: the observations it needs, and the number it makes from them."""

import warnings
from collections.abc import Mapping
from collections.abc import Sequence as ListLike
from typing import Any, Self

import numpy as np

from compiler_gym.spaces._copies import deep_copy
from compiler_gym.spaces.scalar import Scalar

__all__ = ["DefaultRewardFromObservation", "Reward"]


class Reward(Scalar):
    """A reward signal: a `Scalar` with a function that computes it.

    Obligations of a subclass:

    - `update` returns the reward of the actions since the last `update`, from
      the values of `observation_spaces` in their order.
    - Calls come from one thread: `reset` when an episode begins, then at most one `start`, then
      `update` after each request; nothing after a failure. If the reward is read again before
      the first action, it gets another `start` and `update`.
    - It supports `copy.deepcopy`: a fork continues with its own numbers.

    A reward equals another of the same name, and its name.

    >>> class Shrinkage(Reward):
    ...     def start(self, observations, observation_view):
    ...         self.size = observations[0]
    ...
    ...     def update(self, actions, observations, observation_view):
    ...         saved, self.size = self.size - observations[0], observations[0]
    ...         return float(saved)
    >>> reward = Shrinkage("shrinkage", observation_spaces=["size"], max=100.0)
    >>> reward.reset("benchmark://demo/1", {})
    >>> reward.start([50], {})
    >>> reward.update([7], [45], {}), reward.range
    (5.0, (-inf, 100.0))
    """

    description: str = ""
    """The reward in one sentence; if empty, the docstring of the class."""

    def __init__(
        self,
        name: str = "",
        observation_spaces: ListLike[str] | None = None,
        default_value: float = 0,
        min: float | None = None,
        max: float | None = None,
        default_negates_returns: bool = False,
        success_threshold: float | None = None,
        deterministic: bool = False,
        platform_dependent: bool = True,
        id: str = "",
    ) -> None:
        if id:
            warnings.warn("`id` was renamed: use `name`", DeprecationWarning, stacklevel=2)
            name = name or id
        if not name:
            raise TypeError("a reward needs a name")
        super().__init__(name, min=min, max=max, dtype=np.float64)
        self.observation_spaces = list(observation_spaces or ())
        """The names of the observations that `update` receives."""
        self.default_value = default_value
        """The reward of a step that failed."""
        self.default_negates_returns = default_negates_returns
        """True if a failure also cancels the reward of the episode so far."""
        self.success_threshold = success_threshold
        """The episode's total that counts as a success."""
        self.deterministic = deterministic
        """True if the same actions always earn the same reward."""
        self.platform_dependent = platform_dependent
        """True if the value may differ on another machine."""

    @property
    def id(self) -> str:
        """The name, with the same attribute as specs of observations."""
        return self.name

    @property
    def range(self) -> tuple[float, float]:
        """The bounds of one reward; infinite if open."""
        low, high = self._bounds()
        return float(low), float(high)

    def reset(self, benchmark: str, observation_view: Mapping[str, Any]) -> None:
        """Forget the last episode; a new one begins on the program `benchmark`.

        `observation_view` returns any observation by name; each costs a request.
        """

    def start(self, observations: ListLike[Any], observation_view: Mapping[str, Any]) -> None:
        """Store the observations of the program before any action.

        Called each time that they are observed before the first action. A reward that is first
        read later must work without this call.
        """

    def update(
        self,
        actions: ListLike[Any],
        observations: ListLike[Any],
        observation_view: Mapping[str, Any],
    ) -> float:
        """Return the reward for `actions`, which led to `observations`."""
        raise NotImplementedError(f"{type(self).__name__} does not define update()")

    def reward_on_error(self, episode_reward: float) -> float:
        """Return the reward of a step that failed after `episode_reward` was earned.

        >>> Reward("r", default_value=-10.0, default_negates_returns=True).reward_on_error(2.5)
        -12.5
        """
        if self.default_negates_returns:
            return self.default_value - episode_reward
        return self.default_value

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return deep_copy(self, memo)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return self.name == other
        return isinstance(other, Reward) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


class DefaultRewardFromObservation(Reward):
    """The growth of an observation since the last step, starting from 0.

    The first reward of an episode is therefore the observation itself, and a falling cost earns
    a negative reward: use it for quantities to maximise, such as operations per second.

    >>> reward = DefaultRewardFromObservation("flops")
    >>> reward.reset("benchmark://demo/1", {})
    >>> [reward.update([0], [flops], {}) for flops in (10, 25, 20)]
    [10.0, 15.0, -5.0]
    """

    def __init__(self, observation_name: str, **kwargs: Any) -> None:
        super().__init__(observation_name, observation_spaces=[observation_name], **kwargs)
        self.previous_value: Any = None
        """The observation of the last update, or None before the first."""

    def reset(self, benchmark: str, observation_view: Mapping[str, Any]) -> None:
        """Start from 0 again."""
        self.previous_value = None

    def update(
        self,
        actions: ListLike[Any],
        observations: ListLike[Any],
        observation_view: Mapping[str, Any],
    ) -> float:
        """Return the growth of the observation."""
        before = 0 if self.previous_value is None else self.previous_value
        self.previous_value = observations[0]
        return float(self.previous_value - before)
