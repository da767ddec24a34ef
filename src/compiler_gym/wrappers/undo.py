# SPDX-License-Identifier: MIT
"""A way back: the state before each step is kept as a fork."""

from collections.abc import Iterable
from typing import Any, Self

from compiler_gym.errors import ServiceError
from compiler_gym.wrappers._foreign import blamed, fork_of
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

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.stack: list[Any] = []
        """The environment before each step, the last one last."""

    def undo(self) -> Self:
        """Go back to before the last step and return this environment.

        A step that failed can be undone too. With nothing to undo, nothing happens.
        """
        if self.stack:
            before, self.env = self.env, self.stack.pop()
            before.close()
        return self

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None, **arguments: Any
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode with nothing to undo."""
        self._drop()
        return super().reset(seed=seed, options=options, **arguments)

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
        if several:
            try:
                forks.append(fork_of(self.env))
            except ServiceError as error:
                lost = error
        try:
            result = super().multistep(several, observation_spaces, reward_spaces, timeout=timeout)
        except BaseException:  # a request that was refused is no step
            for fork in forks:
                fork.close()
            raise
        self.stack += forks
        return result if lost is None else blamed(result, lost)

    def close(self) -> None:
        """Close the environment and every fork."""
        self._drop()
        super().close()

    def _drop(self) -> None:
        stack, self.stack = self.stack, []
        for env in stack:
            env.close()
