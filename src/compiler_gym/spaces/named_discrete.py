# SPDX-License-Identifier: MIT
"""Choices that have names, for example the passes of a compiler."""

from collections.abc import Iterable
from typing import Any, Self, SupportsIndex

import numpy as np

from compiler_gym.errors import InvalidActionError
from compiler_gym.spaces._copies import deep_copy
from compiler_gym.spaces._words import Words
from compiler_gym.spaces.discrete import Discrete

__all__ = ["NamedDiscrete"]

_NAMES_IN_REPR = 8
"""How many names `repr` shows before it counts the rest."""
_SHARED = frozenset(("names", "items", "flags", "descriptions", "_words", "_flag_words"))
"""What is made once, of a space and of one of command lines."""


class NamedDiscrete(Discrete):
    """An integer in ``[0, len(items))``, each with a name.

    Names differ, unless they may be `repeated`: a name then stands for its first value.

    Every library that takes Gymnasium's Discrete takes this.

    >>> space = NamedDiscrete(["dce", "inline", "licm"], name="passes")
    >>> space
    NamedDiscrete([dce, inline, licm])
    >>> space["inline"], space.names[2], space.contains(3)
    (1, 'licm', False)
    >>> space.to_string([2, 0]), space.from_string("licm dce")
    ('licm dce', [2, 0])
    """

    sets: tuple[int, ...] = ()
    """Where values are settings: the number of the option that each sets. Of several that set
    one option the last counts. Empty where values are steps, whose order counts."""

    def __init__(
        self,
        items: Iterable[str],
        name: str,
        *,
        seed: int | np.random.Generator | None = None,
        repeated: bool = False,
    ) -> None:
        self.names = [str(item) for item in items]
        """The name of each value, in order."""
        super().__init__(len(self.names), name, seed=seed)
        self._words = Words(self.names, "action", repeated=repeated)

    def __getitem__(self, name: str) -> int:
        """Return the value called `name`, or raise `UnknownNameError`."""
        return self._words.number(name)

    def to_string(self, actions: SupportsIndex | Iterable[SupportsIndex]) -> str:
        """Return the names of `actions`, one value or several, separated by blanks.

        Raises `InvalidActionError` for a value outside the space.
        """
        return self._join(actions, self.names)

    def from_string(self, string: str) -> list[int]:
        """Return the values that the names in `string` stand for.

        Raises `UnknownNameError` for a name that is not in the space.
        """
        return self._words.find(string)

    def _join(self, actions: Any, texts: list[str]) -> str:
        return " ".join([texts[action] for action in self._check_actions(actions)])

    def _check_actions(self, actions: Any) -> list[int]:
        """Return one action or several as a list, or raise `InvalidActionError`."""
        if self.contains(actions):
            return [actions]
        try:
            listed = list(actions)
        except TypeError:
            listed = [actions]
        for action in listed:
            if not self.contains(action):
                raise InvalidActionError(
                    f"expected an integer from 0 to {self._end - 1}, "
                    f"found {action!r} ({type(action).__name__})"
                )
        return listed

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return a copy with a random generator of its own; what the values are is shared."""
        return deep_copy(self, memo, shared=_SHARED)

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other) and self.names == other.names  # type: ignore[attr-defined]  # same class

    def __repr__(self) -> str:
        shown = (
            self.names if len(self.names) <= _NAMES_IN_REPR else self.names[: _NAMES_IN_REPR - 3]
        )
        rest = len(self.names) - len(shown)
        return f"{type(self).__name__}([{', '.join(shown)}{f', ... {rest} more' if rest else ''}])"
