# SPDX-License-Identifier: MIT
"""Reads an action from text: its name, its number or JSON."""

import json
import re
from collections.abc import Iterable
from typing import Any

from compiler_gym.errors import InvalidActionError
from compiler_gym.errors.nearest import did_you_mean, nearest
from compiler_gym.spaces._plain import value_from_json
from compiler_gym.spaces.action_names import action_flags, action_names, space_name

__all__ = ["close_names", "describe_range", "find_action", "find_actions", "read_action"]


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
