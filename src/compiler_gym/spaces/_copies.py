# SPDX-License-Identifier: MIT
"""Deep copies that share immutable parts: a fork copies every space of an environment."""

import copy
from typing import Any, TypeVar

__all__ = ["deep_copy"]

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
