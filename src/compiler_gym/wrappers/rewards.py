# SPDX-License-Identifier: MIT
"""Wrappers that change rewards or measure them differently."""

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from compiler_gym.core import StepArguments, StepTuple
from compiler_gym.errors import CompilerError, InvalidParameterError, ServiceError
from compiler_gym.spaces import RuntimeReward
from compiler_gym.wrappers.conversions import Earnings
from compiler_gym.wrappers.layers import Environment
from compiler_gym.wrappers.wrapper import CompilerEnvWrapper


class NoEffectPenalty(Earnings):
    """A wrapper that subtracts `penalty` from the reward of a step without effect."""

    def __init__(self, env: Environment, penalty: float = 0.01) -> None:
        super().__init__(env)
        if not penalty >= 0:
            raise InvalidParameterError(f"penalty must be at least 0 (got {penalty})")
        self.penalty = penalty
        """The amount to subtract."""

    def handle_step(self, asked: StepArguments) -> StepTuple:
        """Apply the actions; a step without actions is not penalised."""
        obs, reward, terminated, truncated, info = super().handle_step(asked)
        if asked.reward_spaces is None and reward is not None:
            if asked.actions and info.get("action_had_no_effect"):
                reward = _lower(reward, self.penalty)
            self.earn(reward)
        return obs, reward, terminated, truncated, info


class RelativeSavings(Earnings):
    """A wrapper that rewards ``log(before / after)`` of a cost: 1 % always counts the same.

    `cost` names an observation of a number, such as ``IrInstructionCount``. The rewards of an
    episode sum to the logarithm of the factor by which the cost fell; their mean over programs is
    the logarithm of the geometric mean. A failed step earns nothing, and a cost below 1 counts
    as 1. The environment below needs no reward.

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
            raise InvalidParameterError(
                f"{self.unwrapped} has no observation {cost!r}; name one that is a cost"
            )
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
        """Apply the actions; rewards requested by name are not changed."""
        obs, reward, terminated, truncated, info = super().handle_step(asked)
        saved = 0.0
        if self.episode.has_program:
            try:
                after = self._measure()
                saved, self._before = self._before - after, after
            except (CompilerError, ServiceError):
                pass  # the next step reports the failure
        self.earn(saved)
        return obs, saved if asked.reward_spaces is None else reward, terminated, truncated, info

    def _measure(self) -> float:
        return math.log(max(float(self.below.observation[self.cost]), 1.0))


class BestSavings(RelativeSavings):
    """A wrapper that rewards only what falls below the least cost of the episode so far.

    The rewards are those of `RelativeSavings`, but never negative: stopping is free, and an episode
    earns what its best state saves. It may end in a worse state; `NeverWorse` returns to the best.
    """

    def __init__(self, env: Environment, cost: str) -> None:
        super().__init__(env, cost)
        self._least = math.inf

    def episode_began(self) -> None:
        """Measure the cost at the start of the episode."""
        self._least = math.inf
        super().episode_began()

    def _measure(self) -> float:
        self._least = min(self._least, super()._measure())
        return self._least


class RewardAtEnd(Earnings):
    """A wrapper that gives the whole reward at the last step of an episode, and 0 before.

    The reward, such as the run time of the program, is then measured only once per episode. The
    environment below must end the episode, for example with a `TimeLimit`; a limit around this
    wrapper does not count. A failed episode earns 0.
    """

    def handle_step(self, asked: StepArguments) -> StepTuple:
        """Apply the actions; rewards requested by name are not changed."""
        if asked.reward_spaces is not None:
            return super().handle_step(asked)
        if self.below.reward_space is None:
            raise InvalidParameterError("RewardAtEnd needs a reward; set a reward space")
        name = self.below.reward_space.name
        obs, _, terminated, truncated, info = super().handle_step(replace(asked, reward_spaces=[]))
        reward = 0.0
        if (terminated or truncated) and "error" not in info:
            last = replace(asked, actions=[], observation_spaces=[], reward_spaces=name)
            _, reward, _, _, last_info = super().handle_step(last)
            if "error" in last_info:
                reward, truncated, info = 0.0, True, {**info, **last_info}
        return obs, self.earn(reward), terminated, truncated, info


class ValidateBenchmarkAfterEveryStep(Earnings):
    """A wrapper that validates the program after every step, and terminates if it is broken.

    The reward is then `reward_penalty`; ``info["validation"]`` is the `ValidationResult`, and
    ``info["error_details"]`` describes the error.
    """

    def __init__(self, env: Environment, reward_penalty: float = -1e3) -> None:
        super().__init__(env)
        self.reward_penalty = reward_penalty
        """The reward of a step that breaks the program."""

    def handle_step(self, asked: StepArguments) -> StepTuple:
        """Apply the actions and validate the program."""
        obs, reward, terminated, truncated, info = super().handle_step(asked)
        if not truncated and self.episode.has_program:
            try:
                result = self.validate()
            except ServiceError:
                result = None  # the next step reports the failure
            if result is not None and not result.okay():
                reward, terminated = self.reward_penalty, True
                details = {"validation": result, "error_details": result.error_details}
                info = {**info, **details}
        if asked.reward_spaces is None:
            self.earn(reward)
        return obs, reward, terminated, truncated, info


class RuntimePointEstimateReward(CompilerEnvWrapper):
    """A wrapper that rewards the seconds by which the program got faster, from several runs.

    Args:
        env: An environment with the observation ``Runtime``, where the numbers of runs are set.
        runtime_count: The number of runs.
        warmup_count: The number of earlier runs that are not measured.
        estimator: A function from the run times in seconds to one number.

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
                f"{type(base).__name__} has no observation Runtime; use an environment that has it"
            )
        base.runtime_observation_count = runtime_count
        base.runtime_warmup_runs_count = warmup_count
        self.reward_space = RuntimeReward(runtime_count, warmup_count, estimator)


def _lower(reward: float | list[float], amount: float) -> float | list[float]:
    return [item - amount for item in reward] if isinstance(reward, list) else reward - amount
