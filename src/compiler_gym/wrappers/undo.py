# SPDX-License-Identifier: MIT
"""Undo steps, by keeping a fork of the state before each step."""

from typing import Self

from compiler_gym.core import (
    CompilerEnvState,
    ResetArguments,
    ResetResult,
    StepArguments,
    StepTuple,
    fork_wrapped,
)
from compiler_gym.errors import ServiceError
from compiler_gym.wrappers._below import Environment, add_error
from compiler_gym.wrappers.copying import Lasting
from compiler_gym.wrappers.wrapper import CompilerEnvWrapper

__all__ = ["ForkOnStep"]


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
