# SPDX-License-Identifier: MIT
"""Registers this library's spaces with Gymnasium's functions over spaces.

Spaces that derive from a class of Gymnasium mostly need nothing here. `Scalar` behaves like a box
of one number, `ActionSpace` like the space it wraps, and spaces without a fixed size flatten to
themselves.
"""

import multiprocessing
from collections.abc import Callable
from typing import Any, cast

import gymnasium
import numpy as np
from gymnasium.spaces import utils
from gymnasium.spaces.utils import (
    flatdim,
    flatten,
    is_space_dtype_shape_equiv,
    unflatten,
)
from gymnasium.vector import utils as vector_utils
from numpy.typing import NDArray

from compiler_gym.spaces.actions import ActionSpace
from compiler_gym.spaces.box import Box, FreeBox
from compiler_gym.spaces.containers import Dict, Tuple
from compiler_gym.spaces.opaque import Opaque
from compiler_gym.spaces.scalar import Scalar
from compiler_gym.spaces.sequence import Permutation, Sequence

# Gymnasium declares these functions for its own spaces only, and one as never returning.
flatten_space = cast(Any, utils).flatten_space
vector = cast(Any, vector_utils)
_PlainBox = gymnasium.spaces.Box


def _flatten_as(parent: type[gymnasium.Space[Any]]) -> Callable[[Any], gymnasium.Space[Any]]:
    flat = flatten_space.dispatch(parent)
    return lambda space: _ours(flat(space), space.name)


# Gymnasium would return its own Box here, which cannot sample the widest integers.
flatten_space.register(Box, _flatten_as(_PlainBox))
flatten_space.register(Dict, _flatten_as(gymnasium.spaces.Dict))
flatten_space.register(Tuple, _flatten_as(gymnasium.spaces.Tuple))


@vector.batch_space.register(Box)
def _batch_box(space: Box, n: int = 1) -> gymnasium.Space[Any]:
    return _ours(vector.batch_space.dispatch(_PlainBox)(space, n), space.name)


def _ours(flat: gymnasium.Space[Any], name: str) -> gymnasium.Space[Any]:
    if type(flat) is not _PlainBox:
        return flat
    seed = flat._np_random  # pyright: ignore[reportPrivateUsage]  # `np_random` would make one
    return Box(flat.low, flat.high, name, dtype=flat.dtype, seed=seed)


vector.iterate.register(Box, vector.iterate.dispatch(_PlainBox))


@flatdim.register(Scalar)
def _flatdim_scalar(space: Scalar) -> int:
    return 1


@flatten.register(Scalar)
def _flatten_scalar(space: Scalar, x: Any) -> NDArray[Any]:
    return np.array([x], dtype=space.dtype)


@unflatten.register(Scalar)
def _unflatten_scalar(space: Scalar, x: NDArray[Any]) -> Any:
    assert space.dtype is not None
    return space.dtype.type(x[0])


@flatten_space.register(Scalar)
def _flatten_space_scalar(space: Scalar) -> Box:
    return space.as_box((1,))


@vector.batch_space.register(Scalar)
def _batch_scalar(space: Scalar, n: int = 1) -> Box:
    return space.as_box((n,))


@vector.create_empty_array.register(Scalar)
def _empty_scalars(space: Scalar, n: int = 1, fn: Callable[..., Any] = np.zeros) -> NDArray[Any]:
    return fn((n,), dtype=space.dtype)


@vector.concatenate.register(Scalar)
def _concatenate_scalars(space: Scalar, items: Any, out: NDArray[Any]) -> NDArray[Any]:
    out[:] = list(items)
    return out


@flatdim.register(Sequence)
def _flatdim_sequence(space: Sequence) -> int:
    if not space.is_np_flattenable:
        raise ValueError(f"{space} has no fixed number of numbers, so it cannot be flattened")
    return space.size_range[0]


@flatten.register(Sequence)
def _flatten_sequence(space: Sequence, x: Any) -> Any:
    return np.asarray(x, dtype=space.dtype) if space.is_np_flattenable else x


@unflatten.register(Sequence)
def _unflatten_sequence(space: Sequence, x: Any) -> Any:
    if not space.is_np_flattenable:
        return x
    array = np.asarray(x).astype(space.dtype)
    return array if isinstance(space, Permutation) else array.tolist()


@flatten_space.register(Sequence)
def _flatten_space_sequence(space: Sequence) -> gymnasium.Space[Any]:
    return _flat_box(space) if space.is_np_flattenable else space


def _flat_box(space: Sequence) -> Box:
    assert space.dtype is not None
    bounds = space.scalar_range or Scalar(space.name, dtype=space.dtype)
    element = Scalar(space.name, bounds.min, bounds.max, space.dtype, seed=bounds.np_random)
    return element.as_box((space.size_range[0],))


@flatten.register(FreeBox)
@flatten.register(Opaque)
@unflatten.register(FreeBox)
@unflatten.register(Opaque)
def _same_value(space: gymnasium.Space[Any], x: Any) -> Any:
    return x


@flatten_space.register(FreeBox)
@flatten_space.register(Opaque)
def _same_space(space: gymnasium.Space[Any]) -> gymnasium.Space[Any]:
    return space


@is_space_dtype_shape_equiv.register(FreeBox)
@is_space_dtype_shape_equiv.register(Opaque)
@is_space_dtype_shape_equiv.register(Scalar)
@is_space_dtype_shape_equiv.register(Sequence)
def _is_equivalent(space_1: gymnasium.Space[Any], space_2: Any) -> bool:
    return (
        type(space_1) is type(space_2)
        and space_1.shape == space_2.shape
        and space_1.dtype == space_2.dtype
    )


def _delegate(function: Any) -> None:
    """Make `function` use the space inside an `ActionSpace`."""

    def on_wrapped(space: ActionSpace, *args: Any, **kwargs: Any) -> Any:
        return function(space.wrapped, *args, **kwargs)

    function.register(ActionSpace, on_wrapped)


for _function in (
    flatdim,
    flatten,
    flatten_space,
    unflatten,
    vector.batch_space,
    vector.concatenate,
    vector.create_empty_array,
    vector.iterate,
    vector.create_shared_memory,
    vector.read_from_shared_memory,
    vector.write_to_shared_memory,
):
    _delegate(_function)

_shared = (
    vector.create_shared_memory,
    vector.read_from_shared_memory,
    vector.write_to_shared_memory,
)
for _function in _shared:
    # Gymnasium's version for Box uses only the shape and the dtype of the space.
    _function.register(Scalar, _function.dispatch(_PlainBox))


@vector.create_shared_memory.register(Sequence)
def _create_shared_sequences(space: Sequence, n: int = 1, ctx: Any = multiprocessing) -> Any:
    if not space.is_np_flattenable:
        raise gymnasium.error.CustomSpaceError(
            f"cannot share {space}, which has no fixed number of numbers: use shared_memory=False"
        )
    return vector.create_shared_memory(_flat_box(space), n, ctx)


@vector.read_from_shared_memory.register(Sequence)
def _read_shared_sequences(space: Sequence, memory: Any, n: int = 1) -> tuple[Any, ...]:
    rows: Any = vector.read_from_shared_memory(_flat_box(space), memory, n)
    return tuple(rows)


@vector.write_to_shared_memory.register(Sequence)
def _write_shared_sequence(space: Sequence, index: int, value: Any, memory: Any) -> None:
    vector.write_to_shared_memory(_flat_box(space), index, value, memory)


@is_space_dtype_shape_equiv.register(ActionSpace)
def _are_wrapped_equivalent(space_1: ActionSpace, space_2: Any) -> bool:
    other = space_2.wrapped if isinstance(space_2, ActionSpace) else space_2
    return is_space_dtype_shape_equiv(space_1.wrapped, other)
