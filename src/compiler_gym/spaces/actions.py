# SPDX-License-Identifier: MIT
"""Actions of any space: their names, flags and descriptions, and their text form.

Spaces of numbered actions may name them, write them as flags and describe them. Gymnasium's own
spaces do not, so these functions provide defaults for every space.
"""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, cast

import gymnasium
import numpy as np

from compiler_gym.errors import InvalidActionError
from compiler_gym.errors.nearest import did_you_mean, nearest
from compiler_gym.spaces.base import actions_from_json, actions_to_json, to_plain, value_from_json
from compiler_gym.spaces.discrete import ActionPart, CommandlineFlag


def action_names(space: gymnasium.Space[Any]) -> Sequence[str]:
    """Return the names of the actions by number; an empty sequence if they have no names.

    >>> action_names(gymnasium.spaces.Discrete(3))
    ()
    """
    return getattr(space, "names", ())


def action_name(space: gymnasium.Space[Any], action: Any) -> str:
    """Return the name of `action`, or its text if it has no name.

    >>> action_name(gymnasium.spaces.Discrete(3), 2)
    '2'
    """
    names = action_names(space)
    return names[int(action)] if names else action_text(action)


def action_text(action: Any) -> str:
    """Return the text of an action without a name: settings and arrays are JSON.

    >>> action_text({"pass": "inline", "inline-threshold": np.int64(25)})
    '{"pass": "inline", "inline-threshold": 25}'
    """
    if isinstance(action, (dict, list, tuple, np.ndarray)):
        return json.dumps(to_plain(action), default=str)
    return str(action)


def action_flags(space: gymnasium.Space[Any]) -> Sequence[str]:
    """Return the command-line flags of the actions; each is empty if they have none.

    >>> from compiler_gym.spaces import NamedDiscrete
    >>> action_flags(NamedDiscrete(["dce", "gvn"], "passes"))
    ['', '']
    """
    items: Any = getattr(space, "items", None)
    if not isinstance(items, list):  # in a Dict it is a method
        return [""] * len(action_names(space))
    flags = [item.flag for item in cast("list[CommandlineFlag]", items)]
    return flags or [""] * len(action_names(space))


def action_descriptions(space: gymnasium.Space[Any]) -> Sequence[str]:
    """Return the descriptions of the actions by number; each is empty if they have none.

    >>> from compiler_gym.spaces import NamedDiscrete
    >>> action_descriptions(NamedDiscrete(["dce", "gvn"], "passes"))
    ['', '']
    """
    return getattr(space, "descriptions", None) or [""] * len(action_names(space))


def action_parts(space: gymnasium.Space[Any]) -> Sequence[ActionPart]:
    """Return the choices of an action besides, or instead of, its name.

    >>> action_parts(gymnasium.spaces.Discrete(3))
    ()
    """
    return getattr(space, "parts", ())


def space_name(space: gymnasium.Space[Any] | None) -> str | None:
    """Return the name of a space, or None if it has none.

    >>> space_name(gymnasium.spaces.Discrete(3)) is None
    True
    """
    return getattr(space, "name", None)


def find_actions(space: Any, words: Iterable[str]) -> list[Any]:
    """Return the actions for `words`; raise `InvalidActionError` for an unknown one.

    >>> from gymnasium.spaces import Discrete
    >>> find_actions(Discrete(3), ["2", "0"])
    [2, 0]
    """
    return [find_action(space, word) for word in words]


def find_action(space: Any, word: str) -> Any:
    """Return the action whose name, number or flag is `word`.

    >>> from gymnasium.spaces import Discrete
    >>> find_action(Discrete(3), "2")
    2
    """
    # A space that changes also finds actions by name that exist only after a reset.
    if (find := getattr(space, "find", None)) and (action := find(word)) is not None:
        return action
    names, flags = list(action_names(space)), list(action_flags(space))
    for texts in (names, flags):
        if word and word in texts:
            return texts.index(word)
    if word.isdecimal():
        if int(word) in space:
            return int(word)
        raise InvalidActionError(f"no action number {word}: it must be {describe_range(space)}")
    moves: list[str] = list(getattr(space, "move_names", ()))  # names that searches use
    if word in moves:
        return space.moves()[moves.index(word)]
    if not names and (value := _read_json(space, word)) is not None:
        return value
    form = "a name or a number" if names else "JSON, a list or an object"
    hint = did_you_mean(word, names) or f"use {form}"
    advice = space.advice(word) if hasattr(space, "advice") else ""
    raise InvalidActionError(f"no action {word!r} in {space_name(space) or space}: {hint}{advice}")


def read_action(space: Any, action: Any) -> Any:
    """Return the action for a name, or for plain values from JSON.

    >>> from compiler_gym.spaces import NamedDiscrete
    >>> read_action(NamedDiscrete(["gvn", "sroa"], name="Passes"), "sroa")
    1
    """
    if not action_names(space) and _is_member(space, action):
        return action  # text, or a dictionary of names
    if isinstance(action, str):
        return find_action(space, action)
    try:
        value = value_from_json(space, action)
        if value in space:
            return value
    except (TypeError, ValueError, KeyError, OverflowError):
        pass
    raise InvalidActionError(
        f"{action!r:.200} is not an action: use the name or the value of one in {space!r:.200}"
    )


def describe_range(space: Any) -> str:
    """Return the range of the numbers of the actions, for a message.

    >>> from gymnasium.spaces import Discrete
    >>> describe_range(Discrete(3))
    'a number from 0 to 2'
    """
    names = list(action_names(space))
    count = len(names) or getattr(space, "n", None)
    return f"a number from 0 to {count - 1}" if count else f"an action of {space!r}"


def _read_json(space: Any, word: str) -> Any:
    """Return the action in `word`, which is JSON; None if it is not in the space."""
    try:
        action: Any = json.loads(word)
    except ValueError:
        return None
    return action if word[:1] in "[{" and action in space else None


def close_names(names: Iterable[str], pattern: str) -> list[str]:
    """Return the names that contain `pattern`, resemble it or contain its letters in order.

    >>> close_names(["adce", "early-cse", "gvn"], "cse"), close_names(["adce", "gvn"], "ae")
    (['early-cse'], ['adce'])
    """
    text, names = pattern.lower(), list(names)
    loose = re.compile(".*?".join(map(re.escape, text)))
    inside = [name for name in names if text in name.lower()]
    inside.sort(key=lambda name: (not name.lower().startswith(text), len(name)))
    misspelt = nearest(pattern, names, most=5)
    spread = sorted((name for name in names if loose.search(name.lower())), key=len)
    return list(dict.fromkeys(inside + misspelt or spread))


def _is_member(space: Any, action: Any) -> bool:
    try:
        return action in space
    except (TypeError, ValueError, KeyError, OverflowError):
        return False


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


class Decision(NamedTuple):
    """A group of actions, the last of which takes effect.

    A space whose actions depend on the program lists them with its method ``decisions``.

    >>> Decision("call:17", (200, 201), ("default", "never"), ("call", "main")).choices[0]
    200
    """

    name: str
    """The subject of the decision, such as ``call:17``."""
    choices: tuple[int, ...]
    """The actions, as numbers; the first keeps the compiler's default."""
    kinds: tuple[str, ...]
    """The choice of each action, in the same order: equal texts are equal choices elsewhere."""
    groups: tuple[str, ...]
    """Groups of the decision: a kind, then functions. Decisions of a group may be made together."""
    gains: tuple[float, ...] = ()
    """The change of the cost by each action on other programs (negative is a saving), if known."""
    is_late: bool = False
    """True if it can be made after all other actions, because they do not depend on it."""
