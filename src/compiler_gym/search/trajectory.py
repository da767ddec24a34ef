# SPDX-License-Identifier: MIT
"""Shorten the episode of an environment while something stays true of it.

What must stay true is a *hypothesis*: a function of the environment, as in
CompilerGym 0.2.5. Each function here is an iterator that yields the environment
after every test, so that the caller can watch, and stop when it has seen enough;
run to its end, it leaves the environment in the shortest episode found. An
episode in which the compiler fails is put to the hypothesis like any other.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from compiler_gym.core import CompilerEnv
from compiler_gym.errors import MinimizationError

__all__ = [
    "Hypothesis",
    "bisect_trajectory",
    "minimize_trajectory_iteratively",
    "random_minimization",
    "validation_fails",
]

Hypothesis = Callable[[CompilerEnv], bool]
"""Returns whether what is looked for is true of the environment."""


def validation_fails(env: CompilerEnv) -> bool:
    """Return whether the environment's own validation finds something wrong."""
    return env.in_episode and not env.validate().okay()


def bisect_trajectory(
    env: CompilerEnv, hypothesis: Hypothesis = validation_fails, reverse: bool = False
) -> Iterator[CompilerEnv]:
    """Cut off the end of the episode (with `reverse`, its beginning) by halving.

    It takes about log2(n) tests and finds the one place where the hypothesis
    becomes true; where there are several, one of them. Raises `MinimizationError` if
    it is false to begin with.
    """
    trial = _Trial(env, hypothesis)
    yield from trial.begin()
    low, high = 0, len(trial.best)
    actions = trial.best
    while low < high:
        length = (low + high) // 2
        part = actions[len(actions) - length :] if reverse else actions[:length]
        if (yield from trial.test(part)):
            high = length
        else:
            low = length + 1
    trial.finish()


def minimize_trajectory_iteratively(
    env: CompilerEnv, hypothesis: Hypothesis = validation_fails
) -> Iterator[CompilerEnv]:
    """Leave out halves, quarters, ... and single actions, until no single one can go.

    Raises `MinimizationError` if the hypothesis is false to begin with.
    """
    trial = _Trial(env, hypothesis)
    yield from trial.begin()
    size = max(len(trial.best) // 2, 1)
    while trial.best:
        removed = False
        start = 0
        while start < len(trial.best):
            shorter = trial.best[:start] + trial.best[start + size :]
            if (yield from trial.test(shorter)):
                removed = True
            else:
                start += size
        if size > 1:
            size //= 2
        elif not removed:
            break
    trial.finish()


def random_minimization(
    env: CompilerEnv,
    hypothesis: Hypothesis = validation_fails,
    num_iterations: int = 100,
    init_discard: float = 0.5,
    seed: int = 0,
) -> Iterator[CompilerEnv]:
    """Leave out random actions: a share `init_discard` at first, fewer after each failure.

    Good for long episodes in which most actions do not matter. Raises
    `MinimizationError` if the hypothesis is false to begin with.
    """
    trial = _Trial(env, hypothesis)
    yield from trial.begin()
    generator = random.Random(seed)
    share = init_discard
    for _ in range(num_iterations):
        actions = trial.best
        if not actions:
            break
        gone = set(generator.sample(range(len(actions)), max(int(share * len(actions)), 1)))
        shorter = [action for i, action in enumerate(actions) if i not in gone]
        if not (yield from trial.test(shorter)):
            share /= 2
    trial.finish()


class _Trial:
    """The environment under test, and the shortest episode of which the hypothesis is true."""

    def __init__(self, env: CompilerEnv, hypothesis: Hypothesis) -> None:
        self.best: list[Any] = list(env.actions)
        self._env = env
        self._hypothesis = hypothesis
        self._stands_at: list[Any] | None = None
        if env.benchmark is None:
            raise MinimizationError("expected an environment with an episode, found none")
        self._benchmark = env.benchmark

    def begin(self) -> Iterator[CompilerEnv]:
        """Test the whole episode."""
        if not (yield from self.test(self.best)):
            raise MinimizationError(
                f"the hypothesis is false of the whole episode of {len(self.best)} actions: "
                "there is nothing to keep"
            )

    def test(self, actions: Sequence[Any]) -> Any:
        """Yield the environment after `actions` and return whether the hypothesis is true."""
        self._go(list(actions))
        holds = self._hypothesis(self._env)
        if holds:
            self.best = list(actions)
        yield self._env
        return holds

    def finish(self) -> None:
        """Leave the environment in the shortest episode."""
        if self._stands_at != self.best:
            self._go(self.best)

    def _go(self, actions: list[Any]) -> None:
        self._env.reset(benchmark=self._benchmark)
        if actions:
            self._env.multistep(actions)
        self._stands_at = actions
