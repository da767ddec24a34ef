# SPDX-License-Identifier: MIT
"""Names, flags and descriptions of the actions of any space.

Spaces of numbered actions may name them, write them as flags and describe them. Gymnasium's own
spaces do not, so these functions provide defaults for every space.
"""

import json
from collections.abc import Sequence
from typing import Any, cast

import gymnasium
import numpy as np

from compiler_gym.spaces._plain import to_plain
from compiler_gym.spaces.action_part import ActionPart
from compiler_gym.spaces.commandline import CommandlineFlag

__all__ = [
    "action_descriptions",
    "action_flags",
    "action_name",
    "action_names",
    "action_parts",
    "action_text",
    "space_name",
]


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
