# SPDX-License-Identifier: MIT
"""The actions a search chooses from, as numbers from zero, whatever the action space is."""

from collections.abc import Sequence
from typing import Any

import gymnasium

from compiler_gym.spaces import action_names

__all__ = ["Moves"]

_SAMPLES = 256


class Moves:
    """A fixed list of actions.

    A discrete space is taken whole. Of any other space 256 members are drawn once,
    from `seed`: the search then combines those.
    """

    def __init__(self, space: gymnasium.Space[Any], *, seed: int) -> None:
        self._names: Sequence[str] = tuple(action_names(space))
        self._actions: Sequence[Any]
        if isinstance(space, gymnasium.spaces.Discrete):
            self._actions = range(int(space.start), int(space.start) + int(space.n))
        else:
            space.seed(seed)
            self._actions = [space.sample() for _ in range(_SAMPLES)]

    def __len__(self) -> int:
        return len(self._actions)

    def action(self, move: int) -> Any:
        """Return what the environment's ``step`` takes for `move`."""
        return self._actions[move]

    def actions(self, moves: Sequence[int]) -> list[Any]:
        """Return what the environment's ``multistep`` takes for `moves`."""
        return [self._actions[move] for move in moves]

    def name(self, move: int) -> str:
        """Return the name of the action, or how it is written."""
        return self._names[move] if self._names else str(self._actions[move])
