# SPDX-License-Identifier: MIT
"""Undo steps: the state before each is kept as a fork."""

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
    """Fork before every step, so that `undo` restores exactly the state before it.

    Each step keeps one more process until it is undone or the episode ends.

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
        """The environment before each step, the last one last; its state alone if its worker was
        lost before the step."""

    @property
    def undoable_steps(self) -> int:
        """How many steps `undo` can undo."""
        return len(self.stack)

    def undo(self) -> Self:  # type: ignore[override]  # the one that others reach for
        """Go back to before the last step and return this environment.

        A step that failed can be undone too. With nothing to undo, nothing happens.
        """
        if not self.stack:
            return self
        before = self.stack.pop()
        if isinstance(before, CompilerEnvState):
            self.below.apply(before)
        else:
            undone, self.env = self.env, before
            undone.close()
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
        """Keep a fork, then apply the actions; without actions, keep none."""
        forks: list[Environment | CompilerEnvState] = []
        lost: ServiceError | None = None
        if asked.actions and self.in_episode:
            state = self.below.state
            try:
                forks.append(fork_wrapped(self.env))
            except ServiceError as error:
                forks.append(state)
                lost = error
        try:
            result = super().handle_step(asked)
        except BaseException:  # a request that was refused is no step
            _close(forks)
            raise
        self.stack += forks
        return result if lost is None else add_error(result, lost)

    def close(self) -> None:
        """Close the environment and every fork."""
        self._drop()
        super().close()

    def _drop(self) -> None:
        kept = list(self.stack)
        self.stack.clear()
        _close(kept)


class _Stack(list[Environment | CompilerEnvState], Lasting):
    """The kept forks; `undo` removes the last one itself."""


def _close(kept: list[Environment | CompilerEnvState]) -> None:
    for one in kept:
        if not isinstance(one, CompilerEnvState):
            one.close()
