# SPDX-License-Identifier: MIT
"""The base class of this library's spaces, and values of any space as plain Python and as JSON.

Plain means numbers, text, bytes, lists and dictionaries. Conversion to plain values needs only
the value; conversion back needs the space, and each space that is not Gymnasium's registers its
own `value_from_json`.
"""

import copy
import json
from collections.abc import Iterable, Sequence
from functools import singledispatch
from typing import Any, TypeVar, cast

import gymnasium
import numpy as np

from compiler_gym.errors import InvalidActionError


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


def to_plain(value: Any) -> Any:
    """Return `value` with numpy's types replaced by Python's, and tuples by lists.

    >>> import numpy as np
    >>> to_plain({"level": np.int64(2), "sizes": (np.arange(2), b"x")})
    {'level': 2, 'sizes': [[0, 1], b'x']}
    """
    if isinstance(value, np.generic):
        number = cast("np.generic[Any]", value)
        return number.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        table = cast("dict[Any, Any]", value)
        return {key: to_plain(item) for key, item in table.items()}
    if isinstance(value, (list, tuple)):
        items = cast("Sequence[Any]", value)
        return [to_plain(item) for item in items]
    return value


@singledispatch
def value_from_json(space: gymnasium.Space[Any], data: Any) -> Any:
    """Return the value of `space` for `data`, which was read from JSON.

    >>> value_from_json(gymnasium.spaces.MultiDiscrete([3, 2]), [2, 1]).tolist()
    [2, 1]
    """
    return space.from_jsonable([data])[0]


@value_from_json.register(gymnasium.spaces.Discrete)
def _(space: gymnasium.spaces.Discrete, data: Any) -> Any:
    if type(data) is not int:
        raise ValueError(f"{data!r} is not an integer")
    return space.dtype.type(data)


@value_from_json.register(gymnasium.spaces.Dict)
def _(space: gymnasium.spaces.Dict, data: Any) -> dict[str, Any]:
    return {key: value_from_json(item, data[key]) for key, item in space.spaces.items()}


@value_from_json.register(gymnasium.spaces.Tuple)
def _(space: "gymnasium.spaces.Tuple[Any]", data: Any) -> tuple[Any, ...]:
    pairs = zip(space.spaces, data, strict=True)
    return tuple(value_from_json(item, part) for item, part in pairs)


@value_from_json.register(gymnasium.spaces.Sequence)
def _(space: gymnasium.spaces.Sequence, data: Any) -> Any:
    if space.stack:
        return space.from_jsonable([data])[0]
    return tuple(value_from_json(space.feature_space, item) for item in data)


def actions_to_json(space: gymnasium.Space[Any], actions: Iterable[Any]) -> str:
    """Return `actions` as a JSON list, or raise `InvalidActionError`."""
    values = list(actions)
    for action in values:
        if not space.contains(action):
            raise InvalidActionError(f"expected a member of {space!r}, got {action!r}")
    return json.dumps(to_plain(values), default=_text_of_bytes)


def actions_from_json(space: gymnasium.Space[Any], text: str) -> list[Any]:
    """Return the actions of a JSON list, or raise `InvalidActionError`."""
    try:
        data = json.loads(text)
    except (TypeError, ValueError) as error:
        raise InvalidActionError(f"expected a JSON list of actions, got {text!r}") from error
    if not isinstance(data, list):
        raise InvalidActionError(f"expected a JSON list of actions, got {text!r}")
    items = cast("list[Any]", data)
    return [_action_from_json(space, item) for item in items]


def _action_from_json(space: gymnasium.Space[Any], data: Any) -> Any:
    try:
        action = value_from_json(space, data)
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
        raise InvalidActionError(f"expected a member of {space!r}, got {data!r}") from error
    if not space.contains(action):
        raise InvalidActionError(f"expected a member of {space!r}, got {data!r}")
    return action


def _text_of_bytes(value: Any) -> str:
    """Return bytes as text with one character per byte, which JSON can hold."""
    if isinstance(value, bytes):
        return value.decode("latin-1")
    raise InvalidActionError(f"a {type(value).__name__} has no JSON form: {value!r}")


_T = TypeVar("_T")
_OF_GYMNASIUM = frozenset(("_shape", "dtype", "_type"))
"""Attributes of Gymnasium's spaces that never change."""
_NEVER_CHANGE = frozenset((type(None), bool, int, float, str, bytes))


def deep_copy(original: _T, memo: dict[int, Any], *, shared: frozenset[str] = frozenset()) -> _T:
    """Return a deep copy like `copy.deepcopy`, but share the attributes `shared`.

    For classes that keep all of their state in attributes.
    """
    shareable = shared | _OF_GYMNASIUM
    twin = object.__new__(type(original))
    memo[id(original)] = twin
    twin.__dict__.update(
        {
            name: value
            if type(value) in _NEVER_CHANGE or name in shareable
            else copy.deepcopy(value, memo)
            for name, value in vars(original).items()
        }
    )
    return twin
