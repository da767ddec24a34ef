# SPDX-License-Identifier: MIT
"""The results of a vector environment: preallocated arrays, and the infos of the rows."""

from copy import deepcopy
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector.utils import concatenate, create_empty_array
from numpy.typing import NDArray

__all__ = ["Batch", "infos_as_usual"]

_USUAL = dict.fromkeys(("action_had_no_effect", "new_action_space")).keys()
"""The keys of an info after a successful step; their values are booleans."""


class Batch:
    """The last observations, rewards and episode ends of `count` rows."""

    def __init__(self, observation_space: gymnasium.Space[Any], count: int) -> None:
        self._space = observation_space
        self.observations: Any = create_empty_array(observation_space, n=count, fn=np.zeros)
        """The observations: an array, or a structure of arrays, with a row per environment."""
        self._is_array = isinstance(self.observations, np.ndarray)
        self._observations: list[Any] = [None] * count
        self.rewards: NDArray[np.float64] = np.zeros(count)
        """The rewards of the rows, float64[rows]."""
        self._terminations = [False] * count
        self._truncations = [False] * count

    def enter(self, row: int, obs: Any, reward: float, terminated: bool, truncated: bool) -> None:
        """Store the result of one row."""
        self.see(row, obs)
        self.rewards[row] = reward
        self._terminations[row] = terminated
        self._truncations[row] = truncated

    def see(self, row: int, obs: Any) -> None:
        """Store the observation of one row."""
        if self._is_array:
            self.observations[row] = obs
        else:
            self._observations[row] = obs

    def observe(self, *, copy: bool) -> Any:
        """Return the observations of all rows: the same arrays each time, or a copy."""
        if self._is_array:
            return self.observations.copy() if copy else self.observations
        self.observations = concatenate(self._space, self._observations, self.observations)
        return deepcopy(self.observations) if copy else self.observations

    def ends(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the terminations and the truncations, bool[rows] each."""
        return (
            np.array(self._terminations, dtype=np.bool_),
            np.array(self._truncations, dtype=np.bool_),
        )

    def find_ended(self) -> list[int]:
        """Return the numbers of the rows whose episodes have ended."""
        if True not in self._terminations and True not in self._truncations:
            return []
        ends = zip(self._terminations, self._truncations, strict=True)
        return [row for row, (terminated, truncated) in enumerate(ends) if terminated or truncated]


def infos_as_usual(dicts: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the infos of all rows as arrays, or None if any has unusual keys.

    >>> infos_as_usual([{"action_had_no_effect": True, "new_action_space": False}])
    {'action_had_no_effect': array([ True]), '_action_had_no_effect': array([ True]), \
'new_action_space': array([False]), '_new_action_space': array([ True])}
    """
    if not all(info.keys() == _USUAL and set(map(type, info.values())) == {bool} for info in dicts):
        return None
    infos: dict[str, Any] = {}
    for key in _USUAL:
        infos[key] = np.array([info[key] for info in dicts], dtype=np.bool_)
        infos[f"_{key}"] = np.ones(len(dicts), dtype=np.bool_)
    return infos
