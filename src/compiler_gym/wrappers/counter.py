# SPDX-License-Identifier: MIT
"""How often an environment was used."""

from collections.abc import Iterable
from typing import Any, Self

from compiler_gym.wrappers.wrapper import CompilerEnvWrapper, StepResult

__all__ = ["Counter"]


class Counter(CompilerEnvWrapper):
    """Count calls: ``env.counters`` has ``close``, ``reset``, ``step`` and ``fork``.

    A `multistep` counts one step for each action. A fork goes on from the counts that it
    was made at.

        >>> import compiler_gym
        >>> env = Counter(compiler_gym.make("llvm-v0"))
        >>> _ = env.reset(); _ = env.step(0)
        >>> env.close()
        >>> env.counters
        {'close': 1, 'reset': 1, 'step': 1, 'fork': 0}
    """

    not_undone = frozenset({"counters"})

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.counters = {"close": 0, "reset": 0, "step": 0, "fork": 0}
        """The calls so far."""

    def close(self) -> None:
        """Count and close."""
        self.counters["close"] += 1
        super().close()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None, **arguments: Any
    ) -> tuple[Any, dict[str, Any]]:
        """Count and reset."""
        self.counters["reset"] += 1
        return super().reset(seed=seed, options=options, **arguments)

    def multistep(
        self,
        actions: Iterable[Any],
        observation_spaces: Any = None,
        reward_spaces: Any = None,
        *,
        timeout: float | None = None,
    ) -> StepResult:
        """Count the actions and apply them."""
        several = list(actions)
        self.counters["step"] += len(several)
        return super().multistep(several, observation_spaces, reward_spaces, timeout=timeout)

    def fork(self) -> Self:
        """Count and fork."""
        self.counters["fork"] += 1
        return super().fork()
