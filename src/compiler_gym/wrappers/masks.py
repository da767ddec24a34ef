# SPDX-License-Identifier: MIT
"""Masks that hide actions that are known to have no effect on the current program."""

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

_Place = tuple[str | None, Hashable]
"""An action space and the hash of a program."""


class ActionMasks(CompilerEnvWrapper):
    """Add ``action_masks()``, which sb3-contrib's MaskablePPO calls.

    An action is hidden if it had no effect on exactly this program before: in this or an earlier
    episode, here or in a fork.

    Args:
        env: The environment.
        key: The observation that identifies a program, a hash; None takes `state_observation`.
        capacity: How many programs are remembered, by least recent use.

    Raises:
        InvalidParameterError: There is no such observation.
    """

    def __init__(self, env: Environment, key: str | None = None, capacity: int = 100_000) -> None:
        super().__init__(env)
        found = key or getattr(self.unwrapped, "state_observation", None)
        if found is None or found not in self.observation:
            raise InvalidParameterError(
                f"{self.unwrapped} has no observation {key!r}: expected a hash of the program"
            )
        self._key: str = found
        self._capacity = capacity
        self._known = _Known()
        self._here: _Place | None = None

    def action_masks(self) -> NDArray[np.bool_]:
        """Return bool[actions]: False for an action that is known to have no effect."""
        space: gymnasium.Space[Any] = self.action_space
        if not isinstance(space, gymnasium.spaces.Discrete):
            raise InvalidParameterError(f"masks need numbered actions, found {space!r}")
        masks = np.ones(int(space.n), dtype=np.bool_)
        place = self._place() if self._known and self.in_episode else None
        if place is not None:
            masks[list(self._known.get(place, ()))] = False
        return any_if_none(masks)

    def episode_began(self) -> None:
        """Forget the hash of the last program."""
        super().episode_began()
        self._here = None

    def handle_step(self, asked: StepArguments) -> StepTuple:
        """Apply the actions and remember them if they had no effect."""
        result = super().handle_step(asked)
        if not result[4].get("action_had_no_effect"):
            self._here = None
        elif asked.actions and self.in_episode:
            self._learn(asked.actions)
        return result

    def _learn(self, actions: list[Any]) -> None:
        if not isinstance(self.action_space, gymnasium.spaces.Discrete):
            return
        place = self._place()
        if place is None:
            return
        self._known.setdefault(place, set()).update(map(int, actions))
        self._known.move_to_end(place)
        while len(self._known) > self._capacity:
            self._known.popitem(last=False)

    def _place(self) -> _Place | None:
        """Return the action space and the hash of the program.

        None if the compiler fails to observe it; the next step then reports the failure.
        """
        if self._here is None:
            try:
                value = self.observation[self._key]
            except (CompilerError, ServiceError):
                return None
            seen = value.tobytes() if isinstance(value, np.ndarray) else value
            self._here = (space_name(self.action_space), seen)
        return self._here


class _Known(OrderedDict[_Place, set[int]], Lasting):
    """The actions without effect by program, shared by all forks."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self
