# SPDX-License-Identifier: MIT
"""Shapes of unnamed actions, from which the page builds a form.

Shapes can describe any space of Gymnasium and of this library. Their values are JSON as read by
`value_from_json`, or names that the space accepts.
"""

import math
from collections.abc import Mapping, Sequence
from functools import singledispatch
from typing import Any, cast

import gymnasium
import numpy as np

from compiler_gym import spaces
from compiler_gym.spaces import ActionPart, action_names, action_parts, to_plain
from compiler_gym_explorer.records import Shape

__all__ = ["describe_shape"]

_MOST_PARTS = 5000
_MOST_OPTIONS = 1000


def describe_shape(space: Any) -> Shape | None:
    """Return the shape of an action; None if the actions have names to choose from."""
    if action_names(space):
        return None
    cases: Mapping[str, Mapping[str, Sequence[Any]]] | None = getattr(space, "cases", None)
    if cases is not None:
        return _cases_shape(space, cases)
    return _shape(space)


def _cases_shape(space: Any, cases: Mapping[str, Mapping[str, Sequence[Any]]]) -> Shape:
    descriptions = {part.name: part.description for part in action_parts(space)}
    return Shape(
        kind="case",
        name=space.case_key,
        items=[
            Shape(
                kind="fields",
                name=case,
                description=descriptions.get(case, ""),
                items=[
                    _values_shape(name, descriptions.get(f"{case} {name}", ""), values)
                    for name, values in parts.items()
                ],
            )
            for case, parts in cases.items()
        ],
    )


def _values_shape(name: str, description: str, values: Sequence[Any]) -> Shape:
    if isinstance(values, range) and abs(values.step) == 1:
        low, high = min(values), max(values)
        return Shape(
            kind="number", name=name, description=description, low=low, high=high, whole=True
        )
    options = [str(value).lower() if isinstance(value, bool) else str(value) for value in values]
    return Shape(
        kind="choice", name=name, description=description, options=options, values=list(values)
    )


@singledispatch
def _shape(space: Any, name: str = "") -> Shape:
    return Shape(kind="other", name=name, description=repr(space)[:200])


@_shape.register(gymnasium.spaces.Discrete)
def _(space: gymnasium.spaces.Discrete, name: str = "") -> Shape:
    names, first, count = list(action_names(space)), int(space.start), int(space.n)
    return _numbers_shape(name, names, first, count)


def _numbers_shape(name: str, names: list[str], first: int, count: int, about: str = "") -> Shape:
    if len(names) == count <= _MOST_OPTIONS:
        values = list(range(first, first + count))
        return Shape(kind="choice", name=name, description=about, options=names, values=values)
    last = first + count - 1
    return Shape(kind="number", name=name, description=about, low=first, high=last, whole=True)


@_shape.register(gymnasium.spaces.MultiDiscrete)
def _(space: gymnasium.spaces.MultiDiscrete, name: str = "") -> Shape:
    counts = space.nvec
    if counts.ndim != 1 or len(counts) > _MOST_PARTS:
        return Shape(kind="other", name=name, description=repr(space)[:200])
    parts: Sequence[ActionPart | None] = list(action_parts(space)) or [None] * len(counts)
    starts: list[int] = to_plain(space.start)
    rows = zip(parts, starts, to_plain(counts), strict=True)
    items = [_part_shape(i, *row) for i, row in enumerate(rows)]
    return Shape(kind="fields", name=name, items=items, in_order=True)


def _part_shape(index: int, part: ActionPart | None, first: int, count: int) -> Shape:
    if part is None:
        return _numbers_shape(str(index), [], first, count)
    names = part.values.split(", ")
    if len(names) == count - 1:  # the first value stands for "not given"
        names = ["", *names]
    return _numbers_shape(part.name, names, first, count, part.description)


@_shape.register(gymnasium.spaces.MultiBinary)
def _(space: gymnasium.spaces.MultiBinary, name: str = "") -> Shape:
    if len(space.shape) != 1:
        return Shape(kind="other", name=name, description=repr(space)[:200])
    items = [_numbers_shape(str(i), ["0", "1"], 0, 2) for i in range(space.shape[0])]
    return Shape(kind="fields", name=name, items=items, in_order=True)


@_shape.register(gymnasium.spaces.Box)
def _(space: gymnasium.spaces.Box, name: str = "") -> Shape:
    if len(space.shape) != 1 or space.shape[0] > _MOST_PARTS:
        return Shape(kind="other", name=name, description=repr(space)[:200])
    is_integer = bool(np.issubdtype(cast("np.dtype[Any]", space.dtype), np.integer))
    items = [
        Shape(kind="number", name=str(i), low=_finite(low), high=_finite(high), whole=is_integer)
        for i, (low, high) in enumerate(zip(space.low, space.high, strict=True))
    ]
    return Shape(kind="fields", name=name, items=items, in_order=True)


@_shape.register(gymnasium.spaces.Dict)
def _(space: gymnasium.spaces.Dict, name: str = "") -> Shape:
    items = [_shape(part, key) for key, part in space.spaces.items()]
    return Shape(kind="fields", name=name, items=items)


@_shape.register(gymnasium.spaces.Tuple)
def _(space: "gymnasium.spaces.Tuple[Any]", name: str = "") -> Shape:
    items = [_shape(part, str(i)) for i, part in enumerate(space.spaces)]
    return Shape(kind="fields", name=name, items=items, in_order=True)


@_shape.register(gymnasium.spaces.Sequence)
def _(space: gymnasium.spaces.Sequence, name: str = "") -> Shape:
    least, most = getattr(space, "size_range", (0, None))
    return Shape(
        kind="list", name=name, items=[_shape(space.feature_space, "")], least=least, most=most
    )


@_shape.register(gymnasium.spaces.Text)
def _(space: gymnasium.spaces.Text, name: str = "") -> Shape:
    return Shape(kind="text", name=name, least=space.min_length, most=space.max_length)


@_shape.register(spaces.Scalar)
def _(space: spaces.Scalar, name: str = "") -> Shape:
    if space.kind == "b":
        values = [False, True]
        return Shape(kind="choice", name=name, options=["false", "true"], values=values)
    return Shape(
        kind="number",
        name=name,
        low=_finite(space.min),
        high=_finite(space.max),
        whole=space.kind in "iu",
    )


@_shape.register(spaces.Permutation)
def _(space: spaces.Permutation, name: str = "") -> Shape:
    least, most = space.size_range
    low = None if space.scalar_range is None else _finite(space.scalar_range.min)
    return Shape(kind="order", name=name, low=low, least=least, most=most)


@_shape.register(spaces.Sequence)
def _(space: spaces.Sequence, name: str = "") -> Shape:
    least, most = space.size_range
    if space.kind in "SU":
        return Shape(kind="text", name=name, least=least, most=most)
    element = space.scalar_range or spaces.Scalar(name, dtype=space.kind)
    return Shape(kind="list", name=name, items=[_shape(element, "")], least=least, most=most)


def _finite(bound: float | None) -> float | None:
    return None if bound is None or not math.isfinite(bound) else to_plain(bound)
