# SPDX-License-Identifier: MIT
"""An end that is never worse than the best state on the way."""

from collections.abc import Iterable, Sequence
from typing import Any, Self

from compiler_gym.errors import InvalidParameterError, ServiceError
from compiler_gym.spaces import NamedDiscrete
from compiler_gym.wrappers._below import action_count, fork_of, multistep_of
from compiler_gym.wrappers.command_lines import number_of
from compiler_gym.wrappers.wrapper import CompilerEnvWrapper, StepResult

__all__ = ["NeverWorse"]


class NeverWorse(CompilerEnvWrapper):
    """Go back to the best state seen when an episode ends.

    The best state is kept as a fork, which costs one process. When the episode ends, by
    itself, by a failure or by a `TimeLimit` below, the environment is in that state: the
    last observation shows it, the last reward makes up the difference, ``env.actions``
    lead to it and ``info["never_worse"]`` is how many actions those are.

    `baseline` is actions that are tried first, by name or number, for example those of a
    known pipeline: the end is never worse than what they reach. A limit around this
    wrapper, or the vector's own ``max_episode_steps``, is none that it sees.
    """

    not_undone = frozenset({"_baseline", "_best", "_best_total"})

    def __init__(self, env: Any, baseline: Sequence[Any] = ()) -> None:
        super().__init__(env)
        self._baseline = list(baseline)
        self._best: Any = None
        self._total = self._best_total = 0.0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None, **arguments: Any
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode whose best state is its first, or the baseline's."""
        self._forget()
        result = super().reset(seed=seed, options=options, **arguments)
        if self._of("reward_space") is None:
            raise InvalidParameterError("the best state needs a reward: set a reward space")
        self._keep()
        if self._baseline:
            self._try_baseline()
        return result

    def episode_began(self) -> None:
        """Count from nothing, or from what a replay has earned."""
        super().episode_began()
        self._total = self._best_total = float(self._of("episode_reward") or 0.0)

    def apply(self, state: Any) -> None:
        """Bring the environment to `state`, which is then the best one seen."""
        self._forget()
        super().apply(state)
        self._keep()

    def multistep(
        self,
        actions: Iterable[Any],
        observation_spaces: Any = None,
        reward_spaces: Any = None,
        *,
        timeout: float | None = None,
    ) -> StepResult:
        """Apply `actions`; at the end of the episode go back to the best state."""
        if reward_spaces is not None:
            raise InvalidParameterError("the best state is that of one reward: set reward_space")
        result = super().multistep(actions, observation_spaces, timeout=timeout)
        if isinstance(result[1], list):
            raise InvalidParameterError("the best state is that of one reward: found a list")
        self._total += result[1]
        failed = "error" in result[4]
        ended = result[2] or result[3]
        if self._total > self._best_total and not failed:
            if ended or self._keep():
                self._best_total = self._total
        elif ended:
            return self._settled(result, observation_spaces, timeout)
        return result

    def close(self) -> None:
        """Close the environment and the best state."""
        self._forget()
        super().close()

    def _settled(
        self, result: StepResult, observation_spaces: Any, timeout: float | None
    ) -> StepResult:
        """Put the best state in the place of the current one."""
        if self._best is None or (self._total == self._best_total and "error" not in result[4]):
            return result
        worse, self.env, self._best = self.env, self._best, None
        worse.close()
        seen = multistep_of(self.env, [], observation_spaces, None, timeout)[0]
        reward = result[1] + self._best_total - self._total
        self._total = self._best_total
        info = {**result[4], "never_worse": action_count(self.env)}
        return seen, reward, result[2], result[3], info

    def _try_baseline(self) -> None:
        trial = fork_of(self.env)
        try:
            _, reward, _, _, info = multistep_of(trial, self._baseline_actions(), None, None, None)
        except BaseException:
            trial.close()
            raise
        if "error" not in info and reward > self._best_total:
            self._forget()
            self._best, self._best_total = trial, reward
        else:
            trial.close()

    def _baseline_actions(self) -> list[Any]:
        space = self.env.action_space
        if not isinstance(space, NamedDiscrete):
            return self._baseline
        return [number_of(space, action) for action in self._baseline]

    def _keep(self) -> bool:
        """Keep a fork as the best state, unless the worker is lost: the next step says so."""
        try:
            better = fork_of(self.env)
        except ServiceError:
            return False
        self._forget()
        self._best = better
        return True

    def _forget(self) -> None:
        best, self._best = self._best, None
        if best is not None:
            best.close()

    def _fork_around(self, below: Any) -> Self:
        best, self.__dict__["_best"] = self._best, None
        try:
            twin = super()._fork_around(below)
        finally:
            self._best = best
        if best is not None:
            twin._best = fork_of(best)
        return twin
