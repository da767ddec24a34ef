# SPDX-License-Identifier: MIT
"""The base class of this library's spaces, which adds a name and a text form to Gymnasium's."""

from collections.abc import Iterable
from typing import Any

import gymnasium

from compiler_gym.spaces._plain import actions_from_json, actions_to_json

__all__ = ["NamedSpace", "refuse_masks"]


class NamedSpace(gymnasium.Space[Any]):
    """A space with a name, equal only to a space of the same class and name.

    Like Gymnasium's spaces it is not hashable.
    """

    name: str

    def to_string(self, actions: Iterable[Any]) -> str:
        """Return a list of actions as text: a JSON list.

        Raises `InvalidActionError` for a value outside the space.
        """
        return actions_to_json(self, actions)

    def from_string(self, string: str) -> list[Any]:
        """Return the actions that `to_string` wrote, or raise `InvalidActionError`."""
        return actions_from_json(self, string)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.name == other.name and super().__eq__(other)


def refuse_masks(space: gymnasium.Space[Any], mask: Any, probability: Any) -> None:
    """Raise Gymnasium's error if a mask is passed to a space that does not support one."""
    if mask is not None or probability is not None:
        raise gymnasium.error.Error(
            f"{type(space).__name__}.sample supports neither masks nor probabilities "
            f"(got mask={mask!r}, probability={probability!r})"
        )
