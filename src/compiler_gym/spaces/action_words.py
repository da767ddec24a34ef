# SPDX-License-Identifier: MIT
"""Reads an action from a word: its name, its number or its text."""

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
    """Return the actions that `words` name; raise `InvalidActionError` for one that none has.

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
    # A space that changes knows names of actions that it does not have before a reset.
    if (find := getattr(space, "find", None)) and (found := find(word)) is not None:
        return found
    names, flags = list(action_names(space)), list(action_flags(space))
    for known in (names, flags):
        if word and word in known:
            return known.index(word)
    if word.isdecimal():
        if int(word) in space:
            return int(word)
        raise InvalidActionError(f"no action number {word}: expected {describe_range(space)}")
    named: list[str] = list(getattr(space, "move_names", ()))  # as searches call some actions
    if word in named:
        return space.moves()[named.index(word)]
    if not names and (written := _read_json(space, word)) is not None:
        return written
    known = "the name or number of one" if names else "one as JSON, a list or an object"
    hint = did_you_mean(word, names) or f"expected {known}"
    elsewhere = space.advice(word) if hasattr(space, "advice") else ""
    raise InvalidActionError(
        f"no action {word!r} in {space_name(space) or space}: {hint}{elsewhere}"
    )


def read_action(space: Any, action: Any) -> Any:
    """Return the action that a client calls by name or gives as plain values of JSON.

    >>> from compiler_gym.spaces import NamedDiscrete
    >>> read_action(NamedDiscrete(["gvn", "sroa"], name="Passes"), "sroa")
    1
    """
    if not action_names(space) and _is_member(space, action):
        return action  # a text, or by names that the space knows
    if isinstance(action, str):
        return find_action(space, action)
    try:
        value = value_from_json(space, action)
        if value in space:
            return value
    except (TypeError, ValueError, KeyError, OverflowError):
        pass
    raise InvalidActionError(
        f"{action!r:.200} is no action: expected the name or the value of one of {space!r:.200}"
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
    """Return the action that `word` holds as JSON; None if it is none of the space."""
    try:
        action: Any = json.loads(word)
    except ValueError:
        return None
    return action if word[:1] in "[{" and action in space else None


def close_names(names: Iterable[str], pattern: str) -> list[str]:
    """Return the names that hold `pattern`, look like it or hold its letters in order.

    >>> close_names(["adce", "early-cse", "gvn"], "cse"), close_names(["adce", "gvn"], "ae")
    (['early-cse'], ['adce'])
    """
    wanted, names = pattern.lower(), list(names)
    loose = re.compile(".*?".join(map(re.escape, wanted)))
    inside = [name for name in names if wanted in name.lower()]
    inside.sort(key=lambda name: (not name.lower().startswith(wanted), len(name)))
    misspelt = nearest(pattern, names, most=5)
    spread = sorted((name for name in names if loose.search(name.lower())), key=len)
    return list(dict.fromkeys(inside + misspelt or spread))


def _is_member(space: Any, action: Any) -> bool:
    try:
        return action in space
    except (TypeError, ValueError, KeyError, OverflowError):
        return False
