# SPDX-License-Identifier: MIT
"""Masks that hide actions known to have no effect on the current program."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Any, Self

import gymnasium
import numpy as np
from numpy.typing import NDArray

from compiler_gym.core import StepArguments, StepTuple
from compiler_gym.errors import CompilerError, InvalidParameterError, ServiceError
from compiler_gym.spaces import space_name
from compiler_gym.wrappers._below import Environment
from compiler_gym.wrappers.command_lines import any_if_none
from compiler_gym.wrappers.copying import Lasting
from compiler_gym.wrappers.wrapper import CompilerEnvWrapper

__all__ = ["ActionMasks"]

_Position = tuple[str | None, Hashable]
"""An action space and the hash of a program."""


class ActionMasks(CompilerEnvWrapper):
    """A wrapper that adds ``action_masks()``, which MaskablePPO of sb3-contrib calls.

    An action is hidden if it has had no effect on the identical program before, in this or an
    earlier episode, here or in a fork.

    Args:
        env: The environment.
        key: The observation that identifies a program by a hash; None uses `state_observation`.
        capacity: The number of programs to remember; the least recently used are dropped.

    Raises:
        InvalidParameterError: The observation does not exist.
    """

    def __init__(self, env: Environment, key: str | None = None, capacity: int = 100_000) -> None:
        super().__init__(env)
        name = key or getattr(self.unwrapped, "state_observation", None)
        if name is None or name not in self.observation:
            raise InvalidParameterError(
                f"{self.unwrapped} has no observation {key!r}; name one that hashes the program"
            )
        self._key: str = name
        self._capacity = capacity
        self._ineffective = _Ineffective()
        self._current: _Position | None = None

    def action_masks(self) -> NDArray[np.bool_]:
        """Return bool[actions]: False for an action known to have no effect."""
        space: gymnasium.Space[Any] = self.action_space
        if not isinstance(space, gymnasium.spaces.Discrete):
            raise InvalidParameterError(f"masks need numbered actions (got {space!r})")
        masks = np.ones(int(space.n), dtype=np.bool_)
        position = self._position() if self._ineffective and self.in_episode else None
        if position is not None:
            masks[list(self._ineffective.get(position, ()))] = False
        return any_if_none(masks)

    def episode_began(self) -> None:
        """Clear the hash of the last program."""
        super().episode_began()
        self._current = None

    def handle_step(self, asked: StepArguments) -> StepTuple:
        """Apply the actions and remember them if they had no effect."""
        result = super().handle_step(asked)
        if not result[4].get("action_had_no_effect"):
            self._current = None
        elif asked.actions and self.in_episode:
            self._learn(asked.actions)
        return result

    def _learn(self, actions: list[Any]) -> None:
        if not isinstance(self.action_space, gymnasium.spaces.Discrete):
            return
        position = self._position()
        if position is None:
            return
        self._ineffective.setdefault(position, set()).update(map(int, actions))
        self._ineffective.move_to_end(position)
        while len(self._ineffective) > self._capacity:
            self._ineffective.popitem(last=False)

    def _position(self) -> _Position | None:
        """Return the action space and the hash of the program.

        Return None if the compiler fails here; the next step then reports the failure.
        """
        if self._current is None:
            try:
                value = self.observation[self._key]
            except (CompilerError, ServiceError):
                return None
            hashed = value.tobytes() if isinstance(value, np.ndarray) else value
            self._current = (space_name(self.action_space), hashed)
        return self._current


class _Ineffective(OrderedDict[_Position, set[int]], Lasting):
    """The actions without effect, by program; all forks share them."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self
