# SPDX-License-Identifier: MIT
"""Shorten the episode of an environment while a hypothesis stays true.

A *hypothesis* is a function that takes the environment and returns True or False, as in
CompilerGym 0.2.5. Each function here is an iterator that yields the environment whenever it finds
a shorter episode, so that the caller can watch and stop early; at the end it yields the
environment once more, in the shortest episode found. An episode without actions is not tested.
The hypothesis is also tested on episodes in which the compiler fails.

A hypothesis that holds only sometimes, such as one about a race, is tested up to `flakiness`
times, and counts as true if it holds once.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from math import ceil, log2
from typing import Any

from compiler_gym.core import CompilerEnv
from compiler_gym.errors import InvalidParameterError, MinimizationError, SessionNotFound
from compiler_gym.search.shrinking import shrink

__all__ = [
    "Hypothesis",
    "bisect_trajectory",
    "minimize_trajectory_iteratively",
    "random_minimization",
    "validation_fails",
]

Hypothesis = Callable[[CompilerEnv], bool]
"""Function that returns True if the hypothesis holds in the environment."""


def validation_fails(env: CompilerEnv) -> bool:
    """Return True if the environment's own validation finds an error."""
    try:
        return not env.validate().okay()
    except SessionNotFound:
        return False


def bisect_trajectory(
    env: CompilerEnv,
    hypothesis: Hypothesis = validation_fails,
    reverse: bool = False,
    flakiness: int = 1,
) -> Iterator[CompilerEnv]:
    """Cut off the end of the episode (with `reverse`, its beginning) by bisection.

    Takes about log2(n) tests and finds the place where the hypothesis becomes true, or one of
    them if there are several. Raises `MinimizationError` if it is false at the start.
    """
    trial = _Trial(env, hypothesis, flakiness)
    if not trial.begin():
        return
    low, high = 0, len(trial.best)
    actions = trial.best
    while low < high:
        length = (low + high) // 2
        if trial.holds(actions[len(actions) - length :] if reverse else actions[:length]):
            high = length
            yield env
        else:
            low = length + 1
    trial.finish()
    yield env


def minimize_trajectory_iteratively(
    env: CompilerEnv, hypothesis: Hypothesis = validation_fails, flakiness: int = 1
) -> Iterator[CompilerEnv]:
    """Remove halves, quarters, ... and single actions, until every action is needed.

    Raises `MinimizationError` if the hypothesis is false at the start.
    """
    trial = _Trial(env, hypothesis, flakiness)
    if not trial.begin():
        return
    for _ in shrink(trial.best, trial.holds):
        yield env
    trial.finish()
    yield env


def random_minimization(
    env: CompilerEnv,
    hypothesis: Hypothesis = validation_fails,
    num_steps_ratio_multiplier: float = 5,
    init_discard_ratio: float = 0.75,
    discard_ratio_decay: float = 0.75,
    min_trajectory_len: int = 5,
    flakiness: int = 1,
    *,
    seed: int = 0,
) -> Iterator[CompilerEnv]:
    """Remove random actions: a share of `init_discard_ratio`, smaller after each failure.

    Makes at most `num_steps_ratio_multiplier` times log2(n) tests and stops at fewer than
    `min_trajectory_len` actions. Good for long episodes in which most actions do not matter.
    Raises `MinimizationError` if the hypothesis is false at the start.
    """
    trial = _Trial(env, hypothesis, flakiness)
    if not trial.begin():
        return
    generator = random.Random(seed)
    ratio = init_discard_ratio
    for _ in range(ceil(num_steps_ratio_multiplier * log2(len(trial.best) + 1))):
        actions = trial.best
        if len(actions) < max(min_trajectory_len, 1):
            break
        count = min(max(int(ratio * len(actions)), 1), len(actions))
        removed = set(generator.sample(range(len(actions)), count))
        if trial.holds([action for i, action in enumerate(actions) if i not in removed]):
            ratio = init_discard_ratio
            yield env
        else:
            ratio *= discard_ratio_decay
    trial.finish()
    yield env


class _Trial:
    """The environment under test, and the shortest episode in which the hypothesis is true."""

    def __init__(self, env: CompilerEnv, hypothesis: Hypothesis, flakiness: int) -> None:
        if flakiness < 1:
            raise InvalidParameterError(f"flakiness must be at least 1 (got {flakiness})")
        if env.benchmark is None:
            raise MinimizationError("there is no episode to shorten: call reset() first")
        self.best: list[Any] = list(env.actions)
        self._env = env
        self._benchmark = env.benchmark
        self._hypothesis = hypothesis
        self._flakiness = flakiness
        self._current: list[Any] | None = None

    def begin(self) -> bool:
        """Test the whole episode and return True if it has any actions to remove."""
        if self.best and not self.holds(self.best):
            raise MinimizationError(
                f"the hypothesis is false for the whole episode ({len(self.best)} actions), "
                "so it cannot be shortened"
            )
        return bool(self.best)

    def holds(self, actions: Sequence[Any]) -> bool:
        """Return True if the hypothesis holds in the environment after `actions`."""
        for _ in range(self._flakiness):
            self._go(list(actions))
            if self._hypothesis(self._env):
                self.best = list(actions)
                return True
        return False

    def finish(self) -> None:
        """Leave the environment in the shortest episode."""
        if self._current != self.best:
            self._go(self.best)

    def _go(self, actions: list[Any]) -> None:
        self._env.reset(benchmark=self._benchmark)
        if actions:
            self._env.multistep(actions)
        self._current = actions
