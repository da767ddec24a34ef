# SPDX-License-Identifier: MIT
"""Choices by number, which may have names or be pieces of a command line.

Booleans and floats are not members, although Python and numpy would convert them. The compiler
determines how pieces form a command line: here they are joined with blanks, and a subclass of
`Commandline` with another rule overrides `to_string` and `from_string`.
"""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, NamedTuple, Self, SupportsIndex, cast

import gymnasium
import numpy as np
from numpy.typing import ArrayLike, NDArray

from compiler_gym.errors import InvalidActionError, UnknownNameError
from compiler_gym.errors.nearest import nearest
from compiler_gym.spaces.base import NamedSpace, deep_copy, value_from_json
from compiler_gym.spaces.box import make_array


class ActionPart(NamedTuple):
    """A choice within an action, described for people; a space lists them as ``parts``.

    >>> ActionPart("regalloc", "default, basic, greedy", "Which register allocator").name
    'regalloc'
    """

    name: str
    values: str
    """The possible values, as text."""
    description: str


_NUMPY_INTEGERS = frozenset(np.dtype(code).type for code in np.typecodes["AllInteger"])


class Discrete(NamedSpace, gymnasium.spaces.Discrete):
    """Gymnasium's Discrete with a name.

    >>> space = Discrete(3, name="level")
    >>> space.contains(2), space.contains(3), space.contains(2.0), space.contains(True)
    (True, False, False, False)
    """

    def __init__(
        self, n: int, name: str, start: int = 0, *, seed: int | np.random.Generator | None = None
    ) -> None:
        super().__init__(n, seed, start)
        self.name = name
        # Python's integers compare several times faster than numpy's.
        self._first, self._end = int(start), int(start) + int(n)

    def contains(self, x: Any) -> bool:
        """Return whether `x` is an integer in the range. Fast, because every step calls it."""
        kind = type(x)  # pyright: ignore[reportUnknownVariableType]  # of any type
        if kind is int:
            return self._first <= x < self._end
        if kind in _NUMPY_INTEGERS:
            return self._first <= int(x) < self._end
        if isinstance(x, np.ndarray):
            array = cast("NDArray[Any]", x)
            is_integer = array.shape == () and array.dtype.kind in "iu"
            return is_integer and self._first <= int(array) < self._end
        # Enumerations of integers get here; of the subclasses of int, only bool is refused.
        return isinstance(x, int) and kind is not bool and self._first <= int(x) < self._end


class _Arrays(NamedSpace):
    """Numbers in a one-dimensional array; lists are members too."""

    def contains(self, x: Any) -> bool:
        """Return whether `x` is an array, or a list, of integers in range."""
        assert self.shape is not None
        array = make_array(x, np.dtype(np.int64), self.shape)
        if array is None:
            return False
        low, high = self._bounds()
        return bool(np.all(array >= low) and np.all(array <= high))

    def _bounds(self) -> tuple[Any, Any]:
        """Return the least and the greatest number, or arrays of these."""
        raise NotImplementedError

    def to_jsonable(self, sample_n: Any) -> list[Any]:
        """Return values as lists."""
        return [np.asarray(sample).tolist() for sample in sample_n]


class MultiDiscrete(_Arrays, gymnasium.spaces.MultiDiscrete):
    """Gymnasium's MultiDiscrete with a name.

    >>> space = MultiDiscrete([3, 2], name="levels")
    >>> space.contains([2, 1]), space.contains([2, 2])
    (True, False)
    """

    parts: tuple[ActionPart, ...] = ()

    def __init__(
        self,
        nvec: ArrayLike,
        name: str,
        *,
        seed: int | np.random.Generator | None = None,
        parts: Iterable[ActionPart] = (),
    ) -> None:
        super().__init__(np.asarray(nvec, dtype=np.int64), seed=seed)
        self.name = name
        self.parts = tuple(parts)
        """Descriptions of the numbers, if there are any."""

    def _bounds(self) -> tuple[Any, Any]:
        return self.start, self.start + self.nvec - 1


class MultiBinary(_Arrays, gymnasium.spaces.MultiBinary):
    """Gymnasium's MultiBinary with a name.

    >>> space = MultiBinary(3, name="switches")
    >>> space.contains([0, 1, 1]), space.contains([0, 1, 2])
    (True, False)
    """

    def __init__(self, n: int, name: str, *, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(n, seed)
        self.name = name

    def _bounds(self) -> tuple[Any, Any]:
        return 0, 1


@value_from_json.register(MultiBinary)
@value_from_json.register(MultiDiscrete)
def _array_from_json(space: MultiBinary | MultiDiscrete, data: Any) -> NDArray[Any]:
    if not space.contains(data):
        raise ValueError(f"{data!r} is outside the bounds or the shape")
    return np.array(data, dtype=space.dtype)


class Words:
    """The texts of a space's items, which it finds in a longer text.

    Items with the same text are refused, unless they may be `repeated`; then the first counts.

    >>> Words(["-a", "-b", "-b x"], "flag").find("-a -b x -b")
    [0, 2, 1]
    """

    def __init__(self, items: Sequence[str], kind: str, *, repeated: bool = False) -> None:
        self.items = tuple(items)
        self.kind = kind
        """The noun for an item in messages."""
        numbered = reversed(list(enumerate(self.items)))
        self._numbers = {tuple(item.split()): number for number, item in numbered}  # the first
        if () in self._numbers:
            raise ValueError(f"the text of each {kind} must have at least one word: one is empty")
        if len(self._numbers) < len(self.items) and not repeated:
            raise ValueError(f"each {kind} must be different: {self._repeat()} is there twice")
        self._longest = max(map(len, self._numbers), default=1)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Words":
        """Return itself, because it is immutable."""
        return self

    def find(self, text: str) -> list[int]:
        """Return the numbers of the items that make up `text`.

        Raises `UnknownNameError` with the first word that does not belong to an item.
        """
        if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
            raise InvalidActionError(f"expected text, got {text!r} ({type(text).__name__})")
        words = text.split()
        best: list[tuple[int, int]] = [(-1, 0)] * len(words)
        readable = [False] * len(words) + [True]
        for start in reversed(range(len(words))):
            for number, end in self._items_at(words, start):
                if readable[end]:
                    best[start], readable[start] = (number, end), True
                    break
        if not readable[0]:
            raise self._unknown(words)
        numbers: list[int] = []
        start = 0
        while start < len(words):
            number, start = best[start]
            numbers.append(number)
        return numbers

    def number(self, item: str) -> int:
        """Return the number of one item, or raise `UnknownNameError`."""
        try:
            return self._numbers[tuple(item.split())]
        except (AttributeError, KeyError):
            raise self._error(item) from None

    def _items_at(self, words: list[str], start: int) -> list[tuple[int, int]]:
        """Return ``(number, end)`` of each item that begins at `start`, longest first."""
        last = min(start + self._longest, len(words))
        ends = range(last, start, -1)
        numbers = ((self._numbers.get(tuple(words[start:end])), end) for end in ends)
        return [(number, end) for number, end in numbers if number is not None]

    def _unknown(self, words: list[str]) -> UnknownNameError:
        reached = {0}
        for start in range(len(words)):
            if start in reached:
                reached.update(end for _, end in self._items_at(words, start))
        return self._error(words[min(max(reached), len(words) - 1)])

    def _error(self, item: object) -> UnknownNameError:
        close = " or ".join(map(repr, nearest(item, self.items)))
        hint = f"did you mean {close}?" if close else f"expected one of {len(self.items)}"
        return UnknownNameError(f"no {self.kind} {item!r}; {hint}")

    def _repeat(self) -> str:
        previous: set[tuple[str, ...]] = set()
        for item in self.items:
            words = tuple(item.split())
            if words in previous:
                return repr(item)
            previous.add(words)
        raise AssertionError("every item is different")


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


class CommandlineFlag(NamedTuple):
    """One piece of a command line."""

    name: str
    """A short name without blanks, such as ``LoopUnroll``."""
    flag: str
    """The text on the command line, such as ``-funroll-loops``."""
    description: str
    """The effect, for people."""

    def __deepcopy__(self, memo: dict[int, Any]) -> "CommandlineFlag":
        """Return itself, because it is immutable and a fork copies hundreds."""
        return self


class Commandline(NamedDiscrete):
    """A `NamedDiscrete` whose values are pieces of a command line.

    >>> space = Commandline(
    ...     [
    ...         CommandlineFlag("unroll", "-funroll-loops", "Unroll loops"),
    ...         CommandlineFlag("native", "-march native", "Use this processor"),
    ...     ],
    ...     name="flags",
    ... )
    >>> space.to_string([1, 0])
    '-march native -funroll-loops'
    >>> space.from_string("-march native -funroll-loops")
    [1, 0]
    >>> space["native"], space.flags[1], space.descriptions[1]
    (1, '-march native', 'Use this processor')
    """

    flags_differ: ClassVar[bool] = True
    """True if no two values have the same flag; `from_string` depends on it."""

    def __init__(
        self,
        items: Iterable[CommandlineFlag],
        name: str,
        *,
        seed: int | np.random.Generator | None = None,
        repeated: bool = False,
    ) -> None:
        self.items = [CommandlineFlag(*item) for item in items]
        """The name, the flag and the description of each value, in order."""
        super().__init__((item.name for item in self.items), name, seed=seed, repeated=repeated)
        self.flags = [item.flag for item in self.items]
        """The flag of each value, in order."""
        self.descriptions = [item.description for item in self.items]
        """The description of each value, in order."""
        self._flag_words = Words(self.flags if self.flags_differ else (), "flag", repeated=repeated)

    def to_string(self, actions: SupportsIndex | Iterable[SupportsIndex]) -> str:
        """Return the command line of `actions`, which is one value or several.

        Raises `InvalidActionError` for a value outside the space.
        """
        return self._join(actions, self.flags)

    def from_string(self, string: str) -> list[int]:
        """Return the values whose flags make up the command line `string`.

        Raises `UnknownNameError` for a flag that is not in the space.
        """
        return self._flag_words.find(string)

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other) and self.items == other.items  # type: ignore[attr-defined]  # same class
