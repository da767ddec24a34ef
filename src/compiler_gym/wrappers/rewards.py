# SPDX-License-Identifier: MIT
"""Wrappers that change rewards, or measure them in another way."""

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from compiler_gym.core import StepArguments, StepTuple
from compiler_gym.errors import CompilerError, InvalidParameterError, ServiceError
from compiler_gym.spaces import RuntimeReward
from compiler_gym.wrappers._below import Environment
from compiler_gym.wrappers.conversions import Earnings
from compiler_gym.wrappers.wrapper import CompilerEnvWrapper

__all__ = [
    "NoEffectPenalty",
    "RelativeSavings",
    "RewardAtEnd",
    "RuntimePointEstimateReward",
    "ValidateBenchmarkAfterEveryStep",
]


class NoEffectPenalty(Earnings):
    """Subtract `penalty` from the reward of a step whose actions had no effect."""

    def __init__(self, env: Environment, penalty: float = 0.01) -> None:
        super().__init__(env)
        if not penalty >= 0:
            raise InvalidParameterError(f"penalty is {penalty}: expected a number >= 0")
        self.penalty = penalty
        """What is subtracted."""

    def handle_step(self, asked: StepArguments) -> StepTuple:
        """Apply the actions; a step without actions is not penalised."""
        seen, reward, terminated, truncated, info = super().handle_step(asked)
        if asked.reward_spaces is None and reward is not None:
            if asked.actions and info.get("action_had_no_effect"):
                reward = _lower(reward, self.penalty)
            self.earn(reward)
        return seen, reward, terminated, truncated, info


class RelativeSavings(Earnings):
    """Earn ``log(before / after)`` of a cost, so that one per cent is as much everywhere.

    `cost` is an observation of a number, such as ``IrInstructionCount``. The rewards of an
    episode sum to the logarithm of the factor by which the cost fell; their mean over
    programs is that of the geometric mean. A step that failed earns nothing, and a cost
    below 1 counts as 1. The environment below needs no reward of its own.

        >>> import compiler_gym
        >>> env = RelativeSavings(compiler_gym.make("llvm-v0"), "IrInstructionCount")
        >>> _ = env.reset(benchmark="cbench-v1/crc32")
        >>> earned = env.step(env.action_space["sroa"])[1]
        >>> env.close()
        >>> round(math.exp(earned), 2)
        1.63
    """

    earns_from_below: ClassVar[bool] = False

    def __init__(self, env: Environment, cost: str) -> None:
        super().__init__(env)
        if cost not in self.below.observation:
            raise InvalidParameterError(f"{self.unwrapped} has no observation {cost!r} of a cost")
        self.cost = cost
        """The name of the observation."""
        self._before = 0.0

    def episode_began(self) -> None:
        """Measure the cost at the start of the episode."""
        super().episode_began()
        self._earned, self._before = 0.0, self._measure()

    @property
    def episode_reward(self) -> float:
        """The sum of this wrapper's rewards."""
        return self._earned

    @episode_reward.setter
    def episode_reward(self, value: float | None) -> None:
        self._earned = value or 0.0

    def handle_step(self, asked: StepArguments) -> StepTuple:
        """Apply `actions`; rewards that are asked for by name come as they are."""
        seen, reward, terminated, truncated, info = super().handle_step(asked)
        saved = 0.0
        if self.episode.has_program:
            try:
                after = self._measure()
                saved, self._before = self._before - after, after
            except (CompilerError, ServiceError):
                pass  # the next step reports what happened to the compiler
        self.earn(saved)
        return seen, saved if asked.reward_spaces is None else reward, terminated, truncated, info

    def _measure(self) -> float:
        return math.log(max(float(self.below.observation[self.cost]), 1.0))


class RewardAtEnd(Earnings):
    """Earn 0 before the episode ends, and the whole reward at its last step.

    The reward, for example the run time of the program, is then measured once an episode. The
    episode has to be ended by the environment below, for example by a `TimeLimit` there; a limit
    around this wrapper does not count. An episode that failed earns 0.
    """

    def handle_step(self, asked: StepArguments) -> StepTuple:
        """Apply `actions`; rewards that are asked for by name come as they are."""
        if asked.reward_spaces is not None:
            return super().handle_step(asked)
        if self.below.reward_space is None:
            raise InvalidParameterError("there is no reward to earn: set a reward space")
        name = self.below.reward_space.name
        seen, _, terminated, truncated, info = super().handle_step(replace(asked, reward_spaces=[]))
        reward = 0.0
        if (terminated or truncated) and "error" not in info:
            last = replace(asked, actions=[], observation_spaces=[], reward_spaces=name)
            _, reward, _, _, why = super().handle_step(last)
            if "error" in why:
                reward, truncated, info = 0.0, True, {**info, **why}
        return seen, self.earn(reward), terminated, truncated, info


class ValidateBenchmarkAfterEveryStep(Earnings):
    """Validate the program after every step, and terminate the episode if it is broken.

    The reward is then `reward_penalty`; ``info["validation"]`` is the `ValidationResult`, and
    ``info["error_details"]`` says what is wrong.
    """

    def __init__(self, env: Environment, reward_penalty: float = -1e3) -> None:
        super().__init__(env)
        self.reward_penalty = reward_penalty
        """The reward of a step that broke the program."""

    def handle_step(self, asked: StepArguments) -> StepTuple:
        """Apply the actions and validate the program."""
        seen, reward, terminated, truncated, info = super().handle_step(asked)
        if not truncated and self.episode.has_program:
            try:
                result = self.validate()
            except ServiceError:
                result = None  # the next step reports what happened to the compiler
            if result is not None and not result.okay():
                reward, terminated = self.reward_penalty, True
                details = {"validation": result, "error_details": result.error_details}
                info = {**info, **details}
        if asked.reward_spaces is None:
            self.earn(reward)
        return seen, reward, terminated, truncated, info


class RuntimePointEstimateReward(CompilerEnvWrapper):
    """Earn the seconds by which the program became faster, estimated from several runs.

    Args:
        env: An environment with the observation ``Runtime``; the numbers of runs are set there.
        runtime_count: The number of runs.
        warmup_count: The number of runs before these, which are not measured.
        estimator: Returns one number, given the run times in seconds.

    Raises:
        InvalidParameterError: There is no observation ``Runtime``.
    """

    def __init__(
        self,
        env: Environment,
        runtime_count: int = 30,
        warmup_count: int = 0,
        estimator: Callable[[Iterable[float]], float] = np.median,  # type: ignore[assignment]  # of floats
    ) -> None:
        super().__init__(env)
        base: Any = self.unwrapped
        if "Runtime" not in base.observation:
            raise InvalidParameterError(
                f"{type(base).__name__} observes no Runtime: expected an environment that does"
            )
        base.runtime_observation_count = runtime_count
        base.runtime_warmup_runs_count = warmup_count
        self.reward_space = RuntimeReward(runtime_count, warmup_count, estimator)


def _lower(reward: float | list[float], by: float) -> float | list[float]:
    return [one - by for one in reward] if isinstance(reward, list) else reward - by
