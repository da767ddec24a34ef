# SPDX-License-Identifier: MIT
"""End each episode in the best state that it reached."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from compiler_gym.core import (
    CompilerEnvState,
    ResetArguments,
    ResetResult,
    StepArguments,
    StepTuple,
    fork_wrapped,
)
from compiler_gym.errors import InvalidParameterError, ServiceError
from compiler_gym.spaces import NamedDiscrete
from compiler_gym.wrappers._below import Environment, action_count, step_below
from compiler_gym.wrappers.command_lines import find_number
from compiler_gym.wrappers.copying import Lasting
from compiler_gym.wrappers.wrapper import CompilerEnvWrapper

__all__ = ["NeverWorse"]


class NeverWorse(CompilerEnvWrapper):
    """A wrapper that returns to the best state of an episode when it ends.

    The best state is kept as a fork, which costs one process. When the episode ends by itself, with
    a failure or at a `TimeLimit` below, the environment returns to that state: the last observation
    shows it, the last reward makes up the difference, ``env.actions`` lead to it, and
    ``info["never_worse"]`` is the number of these actions.

    A limit around this wrapper, or the ``max_episode_steps`` of a vector, does not count as an end.

    Args:
        env: The environment; a reward space must be set.
        baseline: Actions to try first, by name or number, such as those of a known pipeline. The
            final state is never worse than the state that they reach.
    """

    def __init__(self, env: Environment, baseline: Sequence[Any] = ()) -> None:
        super().__init__(env)
        self._baseline = list(baseline)
        self._best = _Best()
        self._total = 0.0

    def handle_reset(self, asked: ResetArguments) -> ResetResult:
        """Start an episode; its best state is the first one, or that of the baseline."""
        self._forget()
        result = super().handle_reset(asked)
        if self.below.reward_space is None:
            raise InvalidParameterError(
                "NeverWorse needs a reward to compare states; set a reward space"
            )
        self._keep()
        if self._baseline:
            self._try_baseline()
        return result

    def episode_began(self) -> None:
        """Start the total at 0, or at the rewards of a replay."""
        super().episode_began()
        self._total = self._best.total = float(self.below.episode_reward or 0.0)

    def apply(self, state: CompilerEnvState) -> None:
        """Replay `state`, which becomes the best state."""
        self._forget()
        super().apply(state)
        self._keep()

    def handle_step(self, asked: StepArguments) -> StepTuple:
        """Apply the actions; at the end of the episode, return to the best state."""
        if asked.reward_spaces is not None:
            raise InvalidParameterError(
                "NeverWorse uses one reward; set reward_space instead of reward_spaces"
            )
        result = super().handle_step(asked)
        if isinstance(result[1], list):
            raise InvalidParameterError("NeverWorse needs a single reward (got a list)")
        self._total += result[1]
        failed = "error" in result[4]
        is_over = result[2] or result[3]
        if self._total > self._best.total and not failed:
            if is_over or self._keep():
                self._best.total = self._total
        elif is_over:
            return self._settle(result, asked)
        return result

    def close(self) -> None:
        """Close the environment and the best state."""
        self._forget()
        super().close()

    def _settle(self, result: StepTuple, asked: StepArguments) -> StepTuple:
        """Replace the current state with the best one."""
        best = self._best
        if best.env is None or (self._total == best.total and "error" not in result[4]):
            return result
        worse, self.env, best.env = self.env, best.env, None
        worse.close()
        obs = step_below(self.env, replace(asked, actions=[]))[0]
        reward = result[1] + self._best.total - self._total
        self._total = self._best.total
        info = {**result[4], "never_worse": action_count(self.env)}
        return obs, reward, result[2], result[3], info

    def _try_baseline(self) -> None:
        trial = fork_wrapped(self.env)
        try:
            _, reward, _, _, info = step_below(trial, StepArguments(self._baseline_actions()))
        except BaseException:
            trial.close()
            raise
        if "error" not in info and reward > self._best.total:
            self._forget()
            self._best.env, self._best.total = trial, reward
        else:
            trial.close()

    def _baseline_actions(self) -> list[Any]:
        space = self.env.action_space
        if not isinstance(space, NamedDiscrete):
            return self._baseline
        return [find_number(space, action) for action in self._baseline]

    def _keep(self) -> bool:
        """Keep a fork as the best state; return False if the worker is lost."""
        try:
            better = fork_wrapped(self.env)
        except ServiceError:
            return False
        self._forget()
        self._best.env = better
        return True

    def _forget(self) -> None:
        best, self._best.env = self._best.env, None
        if best is not None:
            best.close()


@dataclass(slots=True)
class _Best(Lasting):
    """The best state of the episode, including undone steps, and its total reward."""

    env: Environment | None = None
    total: float = 0.0

    def __deepcopy__(self, memo: dict[int, Any]) -> "_Best":
        return _Best(None if self.env is None else fork_wrapped(self.env), self.total)
