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
"""Number of names that `repr` shows before it counts the remaining ones."""
_SHARED = frozenset(("names", "items", "flags", "descriptions", "_words", "_flag_words"))
"""Attributes that copies share, of this class and of `Commandline`."""


class NamedDiscrete(Discrete):
    """An integer in ``[0, len(items))``, each with a name.

    Names are distinct, unless they may be `repeated`; then a name stands for its first value.

    Accepted wherever Gymnasium's Discrete is.

    >>> space = NamedDiscrete(["dce", "inline", "licm"], name="passes")
    >>> space
    NamedDiscrete([dce, inline, licm])
    >>> space["inline"], space.names[2], space.contains(3)
    (1, 'licm', False)
    >>> space.to_string([2, 0]), space.from_string("licm dce")
    ('licm dce', [2, 0])
    """

    sets: tuple[int, ...] = ()
    """If values are settings, the number of the option that each one sets; the last setting of an
    option counts. Empty if values are steps, whose order counts."""

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
        """Return the values for the names in `string`.

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
            items = list(actions)
        except TypeError:
            items = [actions]
        for action in items:
            if not self.contains(action):
                raise InvalidActionError(
                    f"expected an integer from 0 to {self._end - 1}, "
                    f"got {action!r} ({type(action).__name__})"
                )
        return items

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return a copy with its own random generator, which shares the names of the values."""
        return deep_copy(self, memo, shared=_SHARED)

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other) and self.names == other.names  # type: ignore[attr-defined]  # same class

    def __repr__(self) -> str:
        shown = (
            self.names if len(self.names) <= _NAMES_IN_REPR else self.names[: _NAMES_IN_REPR - 3]
        )
        hidden = len(self.names) - len(shown)
        more = f", ... {hidden} more" if hidden else ""
        return f"{type(self).__name__}([{', '.join(shown)}{more}])"
