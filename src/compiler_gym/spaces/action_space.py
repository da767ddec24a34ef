# SPDX-License-Identifier: MIT
"""A text form for the actions of any Gymnasium space."""

from collections.abc import Iterable
from typing import Any

import gymnasium
import numpy as np

from compiler_gym.spaces._plain import actions_from_json, actions_to_json

__all__ = ["ActionSpace"]


class ActionSpace(gymnasium.Space[Any]):
    """A space that behaves like the one it wraps and can write its actions as text.

    The text comes from the wrapped space if it has `to_string` and `from_string`; otherwise it
    is a JSON list. Pass `wrapped` to libraries that require a concrete class of Gymnasium.

    >>> import gymnasium
    >>> space = ActionSpace(gymnasium.spaces.Tuple([gymnasium.spaces.Discrete(3)] * 2))
    >>> space.to_string([(0, 1), (2, 2)])
    '[[0, 1], [2, 2]]'
    >>> [tuple(map(int, action)) for action in space.from_string("[[0, 1], [2, 2]]")]
    [(0, 1), (2, 2)]
    """

    def __init__(self, space: gymnasium.Space[Any]) -> None:
        self.wrapped = space
        """The space itself."""
        super().__init__(space.shape, space.dtype)

    @property
    def name(self) -> str | None:
        """The name of the wrapped space, if it has one."""
        return getattr(self.wrapped, "name", None)

    @property
    def np_random(self) -> np.random.Generator:
        """The generator of the wrapped space."""
        return self.wrapped.np_random

    @property
    def is_np_flattenable(self) -> bool:
        """True if the wrapped space is."""
        return self.wrapped.is_np_flattenable

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """Return a random action, chosen by the wrapped space."""
        return self.wrapped.sample(mask=mask, probability=probability)

    def seed(self, seed: Any = None) -> Any:
        """Seed the wrapped space."""
        return self.wrapped.seed(seed)

    def contains(self, x: Any) -> bool:
        """Return whether `x` is an action."""
        return self.wrapped.contains(x)

    def to_string(self, actions: Iterable[Any]) -> str:
        """Return a list of actions as text, or raise `InvalidActionError`."""
        write = getattr(self.wrapped, "to_string", None)
        return actions_to_json(self.wrapped, actions) if write is None else write(actions)

    def from_string(self, string: str) -> list[Any]:
        """Return the actions from the output of `to_string`.

        Raises `InvalidActionError`, or `UnknownNameError` if actions have names.
        """
        read = getattr(self.wrapped, "from_string", None)
        return actions_from_json(self.wrapped, string) if read is None else read(string)

    def to_jsonable(self, sample_n: Any) -> Any:
        """Return actions in the wrapped space's JSON form."""
        return self.wrapped.to_jsonable(sample_n)

    def from_jsonable(self, sample_n: Any) -> list[Any]:
        """Return actions from the wrapped space's JSON form."""
        return self.wrapped.from_jsonable(sample_n)

    def __getattr__(self, name: str) -> Any:
        # Copying and unpickling read attributes before `wrapped` exists.
        if name.startswith("_") or name == "wrapped":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.wrapped, name)

    def __getitem__(self, key: Any) -> Any:
        """Return the item `key` of the wrapped space: a value, or an inner space."""
        return self.wrapped[key]  # type: ignore[index]  # spaces without items raise

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ActionSpace) and self.wrapped == other.wrapped

    def __repr__(self) -> str:
        return f"ActionSpace({self.wrapped!r})"
