# SPDX-License-Identifier: MIT
"""Wrappers that change the course of an episode: its end, its result, undone steps, and counts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

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
from compiler_gym.wrappers.actions import find_number
from compiler_gym.wrappers.layers import Environment, Lasting, action_count, add_error, step_below
from compiler_gym.wrappers.wrapper import CompilerEnvWrapper


class TimeLimit(CompilerEnvWrapper):
    """A wrapper that truncates an episode after a number of actions.

    ``info["TimeLimit.truncated"]`` is then True, unless the episode ends by itself at that step.

    Args:
        env: The environment.
        max_episode_steps: The number of actions; None uses that of ``env.spec``.

    Raises:
        InvalidParameterError: The limit is missing or not at least 1.
    """

    def __init__(self, env: Environment, max_episode_steps: int | None = None) -> None:
        super().__init__(env)
        if max_episode_steps is None and env.spec is not None:
            max_episode_steps = env.spec.max_episode_steps
        if isinstance(max_episode_steps, np.integer):
            max_episode_steps = int(max_episode_steps)
        if not isinstance(max_episode_steps, int) or max_episode_steps < 1:
            raise InvalidParameterError(
                f"max_episode_steps must be at least 1 (got {max_episode_steps!r})"
            )
        self.max_episode_steps = max_episode_steps
        """The number of actions after which an episode is truncated."""
        self.elapsed_steps = 0
        """The number of actions in the episode so far."""

    def episode_began(self) -> None:
        """Start counting at 0, or at the number of actions of a replay."""
        super().episode_began()
        self.elapsed_steps = action_count(self.env)

    def handle_step(self, asked: StepArguments) -> StepTuple:
        """Apply the actions, and truncate the episode at the limit."""
        observation, reward, terminated, truncated, info = super().handle_step(asked)
        self.elapsed_steps += len(asked.actions)
        if self.elapsed_steps >= self.max_episode_steps:
            info = {**info, "TimeLimit.truncated": not (terminated or truncated)}
            truncated = True
        return observation, reward, terminated, truncated, info


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


class ForkOnStep(CompilerEnvWrapper):
    """A wrapper that forks before every step, so that `undo` restores exactly that state.

    Each step keeps a process alive until the step is undone or the episode ends.

        >>> import compiler_gym
        >>> env = ForkOnStep(compiler_gym.make("llvm-v0"))
        >>> _ = env.reset(); _ = env.step(0); _ = env.step(1)
        >>> env.undo().actions
        [0]
        >>> env.close()
    """

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.stack: list[Environment | CompilerEnvState] = _Stack()
        """The environment before each step, the latest last; only its state if the worker was lost
        before the step."""

    @property
    def undoable_steps(self) -> int:
        """The number of steps that `undo` can undo."""
        return len(self.stack)

    def undo(self) -> Self:  # type: ignore[override]  # wrappers around this one look it up
        """Undo the last step and return this environment.

        A failed step can be undone too. Does nothing if there is no step to undo.
        """
        if not self.stack:
            return self
        before = self.stack.pop()
        if isinstance(before, CompilerEnvState):
            self.below.apply(before)
        else:
            later, self.env = self.env, before
            later.close()
        return self

    def handle_reset(self, asked: ResetArguments) -> ResetResult:
        """Start an episode with nothing to undo."""
        self._drop()
        return super().handle_reset(asked)

    def apply(self, state: CompilerEnvState) -> None:
        """Bring the environment to `state`, with nothing to undo."""
        self._drop()
        super().apply(state)

    def handle_step(self, asked: StepArguments) -> StepTuple:
        """Keep a fork, unless there are no actions, and apply the actions."""
        forks: list[Environment | CompilerEnvState] = []
        loss: ServiceError | None = None
        if asked.actions and self.in_episode:
            state = self.below.state
            try:
                forks.append(fork_wrapped(self.env))
            except ServiceError as error:
                forks.append(state)
                loss = error
        try:
            result = super().handle_step(asked)
        except BaseException:  # a refused request is not a step
            _close(forks)
            raise
        self.stack += forks
        return result if loss is None else add_error(result, loss)

    def close(self) -> None:
        """Close the environment and every fork."""
        self._drop()
        super().close()

    def _drop(self) -> None:
        forks = list(self.stack)
        self.stack.clear()
        _close(forks)


class _Stack(list[Environment | CompilerEnvState], Lasting):
    """The kept forks, of which `undo` removes the last."""


def _close(forks: list[Environment | CompilerEnvState]) -> None:
    for fork in forks:
        if not isinstance(fork, CompilerEnvState):
            fork.close()


class Counter(CompilerEnvWrapper):
    """A wrapper that counts ``close``, ``reset``, ``step`` and ``fork`` in ``env.counters``.

    A `multistep` counts as one step per action. A fork starts with the counts of the original.

        >>> import compiler_gym
        >>> env = Counter(compiler_gym.make("llvm-v0"))
        >>> _ = env.reset(); _ = env.step(0)
        >>> env.close()
        >>> env.counters
        {'close': 1, 'reset': 1, 'step': 1, 'fork': 0}
    """

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.counters: dict[str, int] = _Counts(close=0, reset=0, step=0, fork=0)
        """The number of calls so far, by method."""

    def close(self) -> None:
        """Count the call and close the environment."""
        self.counters["close"] += 1
        super().close()

    def handle_reset(self, asked: ResetArguments) -> ResetResult:
        """Count the call and reset the environment."""
        self.counters["reset"] += 1
        return super().handle_reset(asked)

    def handle_step(self, asked: StepArguments) -> StepTuple:
        """Count the actions and apply them."""
        self.counters["step"] += len(asked.actions)
        return super().handle_step(asked)

    def fork(self) -> Self:
        """Count the call and fork the environment."""
        self.counters["fork"] += 1
        return super().fork()


class _Counts(dict[str, int], Lasting):
    """The numbers of calls, which undo does not restore."""
