# SPDX-License-Identifier: MIT
"""A way back: the state before each step is kept as a fork."""

from collections.abc import Iterable
from typing import Any, Self

from compiler_gym.core import CompilerEnvState
from compiler_gym.errors import ServiceError
from compiler_gym.wrappers._below import blamed, fork_of
from compiler_gym.wrappers.wrapper import CompilerEnvWrapper, StepResult

__all__ = ["ForkOnStep"]


class ForkOnStep(CompilerEnvWrapper):
    """Fork before every step, so that `undo` takes it back exactly.

    Each step keeps one more process until it is undone or the episode ends.

        >>> import compiler_gym
        >>> env = ForkOnStep(compiler_gym.make("llvm-v0"))
        >>> _ = env.reset(); _ = env.step(0); _ = env.step(1)
        >>> env.undo().actions
        [0]
        >>> env.close()
    """

    not_undone = frozenset({"stack"})

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.stack: list[Any] = []
        """The environment before each step, the last one last; only its state where its worker
        was lost before the step."""

    @property
    def undoable_steps(self) -> int:
        """How many steps `undo` can take back."""
        return len(self.stack)

    def undo(self) -> Self:  # type: ignore[override]  # the one that others reach for
        """Go back to before the last step and return this environment.

        A step that failed can be undone too. With nothing to undo, nothing happens.
        """
        if not self.stack:
            return self
        before = self.stack.pop()
        if isinstance(before, CompilerEnvState):
            self._of("apply")(before)
        else:
            undone, self.env = self.env, before
            undone.close()
        return self

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None, **arguments: Any
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode with nothing to undo."""
        self._drop()
        return super().reset(seed=seed, options=options, **arguments)

    def apply(self, state: CompilerEnvState) -> None:
        """Bring the environment to `state`, with nothing to undo."""
        self._drop()
        super().apply(state)

    def multistep(
        self,
        actions: Iterable[Any],
        observation_spaces: Any = None,
        reward_spaces: Any = None,
        *,
        timeout: float | None = None,
    ) -> StepResult:
        """Keep a fork, then apply `actions`; looking without an action keeps none."""
        several = list(actions)
        forks: list[Any] = []
        lost: ServiceError | None = None
        if several and self.in_episode:
            state = self._of("state")
            try:
                forks.append(fork_of(self.env))
            except ServiceError as error:
                forks.append(state)
                lost = error
        try:
            result = super().multistep(several, observation_spaces, reward_spaces, timeout=timeout)
        except BaseException:  # a request that was refused is no step
            _close(forks)
            raise
        self.stack += forks
        return result if lost is None else blamed(result, lost)

    def close(self) -> None:
        """Close the environment and every fork."""
        self._drop()
        super().close()

    def _drop(self) -> None:
        stack, self.stack = self.stack, []
        _close(stack)


def _close(kept: list[Any]) -> None:
    for one in kept:
        if not isinstance(one, CompilerEnvState):
            one.close()
