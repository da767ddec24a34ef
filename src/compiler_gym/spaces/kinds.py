# SPDX-License-Identifier: MIT
"""Short descriptions of the values of spaces whose ``repr`` is too long to read."""

from functools import singledispatch
from typing import Any

import gymnasium

from compiler_gym.spaces.actions import ActionSpace, action_names
from compiler_gym.spaces.box import FreeBox
from compiler_gym.spaces.containers import SpaceSequence
from compiler_gym.spaces.opaque import Opaque
from compiler_gym.spaces.scalar import Scalar
from compiler_gym.spaces.sequence import Permutation, Sequence

_SCALARS = {"b": "true or false", "i": "integer", "u": "integer", "f": "number"}


@singledispatch
def space_kind(space: Any) -> str:
    """Return the kind of the values of `space`: ``integer``, ``text``, ``int64[56]``, ...

    >>> space_kind(gymnasium.spaces.Box(0, 9, (2, 3))), space_kind(gymnasium.spaces.Discrete(4))
    ('float32[2, 3]', 'one of 4')
    """
    return type(space).__name__.lower()


@space_kind.register(gymnasium.spaces.Discrete)
def _(space: gymnasium.spaces.Discrete) -> str:
    return f"one of {space.n}"


@space_kind.register(gymnasium.spaces.MultiDiscrete)
@space_kind.register(gymnasium.spaces.MultiBinary)
def _(space: gymnasium.spaces.MultiDiscrete | gymnasium.spaces.MultiBinary) -> str:
    return f"{' x '.join(map(str, space.shape))} choices"


@space_kind.register(gymnasium.spaces.Box)
@space_kind.register(FreeBox)
def _(space: gymnasium.spaces.Box | FreeBox) -> str:
    axes = space.axes if isinstance(space, FreeBox) else space.shape
    return f"{space.dtype}[{', '.join('n' if axis < 0 else str(axis) for axis in axes)}]"


@space_kind.register(gymnasium.spaces.Dict)
def _(space: gymnasium.spaces.Dict) -> str:
    names = list(space.spaces)
    return f"{len(names)} values: {', '.join(names[:2])}{', ...' * (len(names) > 2)}"


@space_kind.register(gymnasium.spaces.Tuple)
def _(space: "gymnasium.spaces.Tuple[Any]") -> str:
    return f"{len(space.spaces)} values"


@space_kind.register(gymnasium.spaces.Text)
def _(space: gymnasium.spaces.Text) -> str:
    return "text"


@space_kind.register(Scalar)
def _(space: Scalar) -> str:
    return _SCALARS.get(space.kind, str(space.dtype))


@space_kind.register(Sequence)
def _(space: Sequence) -> str:
    names = {"U": "text", "S": "bytes"}
    return names.get(space.kind) or f"list of {_SCALARS.get(space.kind, space.dtype)}s"


@space_kind.register(SpaceSequence)
@space_kind.register(gymnasium.spaces.Sequence)
def _(space: SpaceSequence | gymnasium.spaces.Sequence) -> str:
    return f"list of {space_kind(space.feature_space)}"


@space_kind.register(Permutation)
def _(space: Permutation) -> str:
    return "an order"


@space_kind.register(Opaque)
def _(space: Opaque) -> str:
    return space.format


@space_kind.register(ActionSpace)
def _(space: ActionSpace) -> str:
    names = action_names(space)
    return f"one of {len(names)}" if names else space_kind(space.wrapped)
