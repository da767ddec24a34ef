# SPDX-License-Identifier: MIT
"""Base classes of wrappers that convert actions, observations or rewards.

They convert the environment's own spaces, but not those that a single step requests by name with
``observation_spaces`` or ``reward_spaces``.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar, TypeVar

from compiler_gym.core import ResetArguments, ResetResult, StepArguments, StepTuple
from compiler_gym.errors import InvalidActionError
from compiler_gym.spaces import Reward
from compiler_gym.wrappers.wrapper import CompilerEnvWrapper

_Earned = TypeVar("_Earned", bound=float | list[float] | None)


class ActionWrapper(CompilerEnvWrapper):
    """A wrapper that converts its actions to actions of the environment below.

    A subclass defines `action`, otherwise a step raises `NotImplementedError`, and
    `reverse_action` for ``env.actions`` and command lines. It sets ``self.action_space`` if its
    actions differ from those below.
    """

    def action(self, action: Any) -> Any:
        """Return the action below for `action`."""
        raise NotImplementedError(f"{type(self).__name__} does not define action()")

    def reverse_action(self, action: Any) -> Any:
        """Return the action of this wrapper for `action` below."""
        raise NotImplementedError(f"{type(self).__name__} does not define reverse_action()")

    def handle_step(self, asked: StepArguments) -> StepTuple:
        """Convert the actions and apply them."""
        below = [self.action(action) for action in self.check_actions(asked.actions)]
        return super().handle_step(replace(asked, actions=below))

    def handle_reset(self, asked: ResetArguments) -> ResetResult:
        """Start an episode; a seed also seeds this wrapper's own action space."""
        result = super().handle_reset(asked)
        if asked.seed is not None:
            self.action_space.seed(asked.seed)
        return result

    @property
    def actions(self) -> list[Any]:
        """The actions of the episode, in this wrapper's space."""
        return [self.reverse_action(action) for action in self.below.actions]

    def commandline_to_actions(self, commandline: str) -> list[Any]:
        """Return the actions of this wrapper for `commandline`."""
        below = super().commandline_to_actions(commandline)
        return [self.reverse_action(action) for action in below]

    def check_actions(self, actions: Iterable[Any]) -> list[Any]:
        """Return `actions`, or raise `InvalidActionError` if one is outside the space."""
        space, checked = self.action_space, list(actions)
        for action in checked:
            if not space.contains(action):
                raise InvalidActionError(
                    f"{action!r} ({type(action).__name__}) is not an action of {space!r}"
                )
        return checked


class ObservationWrapper(CompilerEnvWrapper, ABC):
    """A wrapper that converts observations.

    A subclass must define `convert_observation` to be instantiated. It sets
    ``self.observation_space`` if its values are in another space.
    """

    @abstractmethod
    def convert_observation(self, observation: Any) -> Any:
        """Return the observation of this wrapper for the one below."""
        raise NotImplementedError(f"{type(self).__name__} does not define convert_observation()")

    def handle_reset(self, asked: ResetArguments) -> ResetResult:
        """Start an episode and convert its observation."""
        observation, info = super().handle_reset(asked)
        return self.convert_observation(observation), info

    def handle_step(self, asked: StepArguments) -> StepTuple:
        """Apply the actions and convert the observation."""
        result = super().handle_step(asked)
        if asked.observation_spaces is not None:
            return result
        return self.convert_observation(result[0]), *result[1:]


class Earnings(CompilerEnvWrapper):
    """A wrapper whose rewards differ from those below; it sums its own rewards."""

    earns_from_below: ClassVar[bool] = True
    """True if the rewards are computed from those below."""
    _earned: float = 0.0

    def episode_began(self) -> None:
        """Start from the sum below: 0, or the rewards of a replay."""
        super().episode_began()
        self._earned = self.below.episode_reward or 0.0

    @property
    def episode_reward(self) -> float | None:
        """The sum of this wrapper's rewards, or None without a reward space."""
        return None if self.below.episode_reward is None else self._earned

    @episode_reward.setter
    def episode_reward(self, value: float | None) -> None:
        self.below.episode_reward = value
        self._earned = value or 0.0

    @property
    def reward_space(self) -> Reward | None:
        """The reward space below. Setting another one restarts the sum."""
        return self.below.reward_space

    @reward_space.setter
    def reward_space(self, value: Any) -> None:
        before = self.below.reward_space
        self.below.reward_space = value
        if self.earns_from_below and self.below.reward_space is not before:
            self._earned = self.below.episode_reward or 0.0

    def earn(self, reward: _Earned) -> _Earned:
        """Add `reward` to the sum of the episode and return it."""
        if reward is not None:
            self._earned += sum(reward) if isinstance(reward, list) else float(reward)
        return reward


class RewardWrapper(Earnings, ABC):
    """A wrapper that converts rewards.

    A subclass must define `convert_reward` to be instantiated.
    """

    @abstractmethod
    def convert_reward(self, reward: Any) -> Any:
        """Return the reward of this wrapper for the one below."""
        raise NotImplementedError(f"{type(self).__name__} does not define convert_reward()")

    def handle_step(self, asked: StepArguments) -> StepTuple:
        """Apply the actions and convert the reward."""
        observation, reward, terminated, truncated, info = super().handle_step(asked)
        if asked.reward_spaces is None and reward is not None:
            reward = self.earn(self.convert_reward(reward))
        return observation, reward, terminated, truncated, info
