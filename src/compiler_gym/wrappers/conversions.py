# SPDX-License-Identifier: MIT
"""Wrappers that convert actions, observations or rewards, to be given the conversion.

Conversions apply to the environment's own spaces. What is asked for by name at a
single step, with ``observation_spaces`` or ``reward_spaces``, comes as it is.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar, TypeVar

from compiler_gym.core import ResetArguments, ResetResult, StepArguments, StepResult
from compiler_gym.errors import InvalidActionError
from compiler_gym.spaces import Reward
from compiler_gym.wrappers.wrapper import CompilerEnvWrapper

__all__ = ["ActionWrapper", "Earnings", "ObservationWrapper", "RewardWrapper"]


_Earned = TypeVar("_Earned", bound=float | list[float] | None)


class ActionWrapper(CompilerEnvWrapper):
    """Turn actions of this wrapper into actions of the environment below.

    A subclass defines `action`, without which a step raises `NotImplementedError`; for
    ``env.actions`` and command lines, `reverse_action`; and sets ``self.action_space`` if its
    actions are others.
    """

    def action(self, action: Any) -> Any:
        """Return the action below that `action` stands for."""
        raise NotImplementedError(f"{type(self).__name__} defines no action()")

    def reverse_action(self, action: Any) -> Any:
        """Return the action of this wrapper that stands for `action` below."""
        raise NotImplementedError(f"{type(self).__name__} defines no reverse_action()")

    def handle_step(self, asked: StepArguments) -> StepResult:
        """Apply what `actions` stand for."""
        below = [self.action(action) for action in self.checked(asked.actions)]
        return super().handle_step(replace(asked, actions=below))

    def handle_reset(self, asked: ResetArguments) -> ResetResult:
        """Start an episode; a seed also seeds this wrapper's own action space."""
        result = super().handle_reset(asked)
        if asked.seed is not None:
            self.action_space.seed(asked.seed)
        return result

    @property
    def actions(self) -> list[Any]:
        """The actions of the episode, as this wrapper has them."""
        return [self.reverse_action(action) for action in self.below.actions]

    def commandline_to_actions(self, commandline: str) -> list[Any]:
        """Return the actions of this wrapper that `commandline` stands for."""
        below = super().commandline_to_actions(commandline)
        return [self.reverse_action(action) for action in below]

    def checked(self, actions: Iterable[Any]) -> list[Any]:
        """Return `actions`, or raise `InvalidActionError` if one is outside the space."""
        space, checked = self.action_space, list(actions)
        for action in checked:
            if not space.contains(action):
                raise InvalidActionError(
                    f"{action!r} ({type(action).__name__}) is not an action of {space!r}"
                )
        return checked


class ObservationWrapper(CompilerEnvWrapper, ABC):
    """Convert what is observed.

    A subclass defines `convert_observation`, without which it cannot be made, and sets
    ``self.observation_space`` if its values are in another space.
    """

    @abstractmethod
    def convert_observation(self, observation: Any) -> Any:
        """Return what the user sees of `observation`."""
        raise NotImplementedError(f"{type(self).__name__} defines no convert_observation()")

    def handle_reset(self, asked: ResetArguments) -> ResetResult:
        """Start an episode and convert what is seen."""
        observation, info = super().handle_reset(asked)
        return self.convert_observation(observation), info

    def handle_step(self, asked: StepArguments) -> StepResult:
        """Apply `actions` and convert what is seen."""
        result = super().handle_step(asked)
        if asked.observation_spaces is not None:
            return result
        return self.convert_observation(result[0]), *result[1:]


class Earnings(CompilerEnvWrapper):
    """A wrapper whose rewards differ from those below, and that adds up its own."""

    earns_from_below: ClassVar[bool] = True
    """Whether its rewards are made of those below."""
    _earned: float = 0.0

    def episode_began(self) -> None:
        """Start to count from what was earned below: nothing, or what a replay earned."""
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
        """The reward of the environment below. With another, what was earned starts anew."""
        return self.below.reward_space

    @reward_space.setter
    def reward_space(self, value: Any) -> None:
        before = self.below.reward_space
        self.below.reward_space = value
        if self.earns_from_below and self.below.reward_space is not before:
            self._earned = self.below.episode_reward or 0.0

    def earn(self, reward: _Earned) -> _Earned:
        """Add `reward` to the episode's and return it."""
        if reward is not None:
            self._earned += sum(reward) if isinstance(reward, list) else float(reward)
        return reward


class RewardWrapper(Earnings, ABC):
    """Convert what is earned. A subclass defines `convert_reward`: without, it cannot be made."""

    @abstractmethod
    def convert_reward(self, reward: Any) -> Any:
        """Return what the user earns for `reward`."""
        raise NotImplementedError(f"{type(self).__name__} defines no convert_reward()")

    def handle_step(self, asked: StepArguments) -> StepResult:
        """Apply `actions` and convert what is earned."""
        seen, reward, terminated, truncated, info = super().handle_step(asked)
        if asked.reward_spaces is None and reward is not None:
            reward = self.earn(self.convert_reward(reward))
        return seen, reward, terminated, truncated, info
