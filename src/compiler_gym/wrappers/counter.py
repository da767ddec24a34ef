# SPDX-License-Identifier: MIT
"""A wrapper that counts the calls of an environment's methods."""

from typing import Self

from compiler_gym.core import ResetArguments, ResetResult, StepArguments, StepTuple
from compiler_gym.wrappers._below import Environment
from compiler_gym.wrappers.copying import Lasting
from compiler_gym.wrappers.wrapper import CompilerEnvWrapper

__all__ = ["Counter"]


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
