# SPDX-License-Identifier: MIT
"""From the plain records of a session to Gymnasium's spaces, and values both ways.

A session knows nothing of Gymnasium and sends plain values. Here its descriptions
become spaces, its values become what those spaces contain, and actions become
plain again.
"""

from collections.abc import Callable, Mapping
from functools import singledispatch
from typing import Any

import gymnasium

from compiler_gym import spaces
from compiler_gym.core._decode import Decoder, decoder
from compiler_gym.errors import UnknownNameError
from compiler_gym.session import (
    BoxSpec,
    CommandlineSpec,
    DictSpec,
    DiscreteSpec,
    MultiBinarySpec,
    MultiDiscreteSpec,
    NamedDiscreteSpec,
    OpaqueSpec,
    PermutationSpec,
    ScalarSpec,
    SequenceSpec,
    SpaceSequenceSpec,
    SpaceSpec,
    TextSpec,
    TupleSpec,
)

__all__ = ["plain_from_value", "space_from_spec", "value_from_plain"]

Space = gymnasium.Space[Any]
Styles = Mapping[str, Callable[..., Space]]
"""How a command line is written: by style, what makes a space of ``(flags, name)``."""

_TYPES: dict[str, type] = {"bytes": bytes, "str": str, "int": int, "float": float, "bool": bool}
_WORDS: Styles = {"words": spaces.Commandline}


def space_from_spec(spec: SpaceSpec, name: str, *, styles: Styles | None = None) -> Space:
    """Return the space that `spec` describes.

    `styles` adds to the styles of command line, of which ``"words"`` is always
    there. Raises `UnknownNameError` for a style that nobody registered.

    >>> space_from_spec(ScalarSpec(0, None, "int"), "size").contains(12)
    True
    >>> space_from_spec(NamedDiscreteSpec(("dce", "licm")), "passes")
    NamedDiscrete([dce, licm])
    """
    return _space(spec, name, {**_WORDS, **(styles or {})})


def value_from_plain(spec: SpaceSpec) -> Decoder:
    """Return a function from the plain value that a session sends to the space's value.

    What it returns belongs to the caller; arrays can be written to. It raises
    `SessionError` for a value of the wrong type, shape or size. Bounds are not
    checked, because every step would pay for it.

    >>> decode = value_from_plain(BoxSpec(0, 255, (2, 2), "uint8"))
    >>> decode(bytes([1, 2, 3, 4]))
    array([[1, 2],
           [3, 4]], dtype=uint8)
    """
    return decoder(spec)


def plain_from_value(space: Space, value: Any) -> Any:
    """Return a value of `space`, for example an action, as plain Python.

    >>> import gymnasium, numpy as np
    >>> plain_from_value(gymnasium.spaces.Discrete(3), np.int64(2))
    2
    """
    if isinstance(space, gymnasium.spaces.Discrete):
        return int(value)
    return spaces.to_plain(value)


@singledispatch
def _space(spec: Any, name: str, styles: Styles) -> Space:
    raise TypeError(f"expected the description of a space, found {spec!r}")


@_space.register
def _(spec: DiscreteSpec, name: str, styles: Styles) -> Space:
    return spaces.Discrete(spec.n, name, spec.start)


@_space.register
def _(spec: NamedDiscreteSpec, name: str, styles: Styles) -> Space:
    return spaces.NamedDiscrete(spec.items, name)


@_space.register
def _(spec: CommandlineSpec, name: str, styles: Styles) -> Space:
    if spec.style not in styles:
        raise UnknownNameError(
            f"the command line {name!r} has the style {spec.style!r}; "
            f"expected one of {', '.join(sorted(styles))}"
        )
    flags = [spaces.CommandlineFlag(i.name, i.flag, i.description) for i in spec.items]
    return styles[spec.style](flags, name)


@_space.register
def _(spec: MultiDiscreteSpec, name: str, styles: Styles) -> Space:
    return spaces.MultiDiscrete(spec.nvec, name)


@_space.register
def _(spec: MultiBinarySpec, name: str, styles: Styles) -> Space:
    return spaces.MultiBinary(spec.n, name)


@_space.register
def _(spec: BoxSpec, name: str, styles: Styles) -> Space:
    kind = spaces.FreeBox if -1 in spec.shape else spaces.Box
    return kind(spec.low, spec.high, name, spec.shape, spec.dtype)


@_space.register
def _(spec: ScalarSpec, name: str, styles: Styles) -> Space:
    return spaces.Scalar(name, spec.low, spec.high, _TYPES[spec.dtype])


@_space.register
def _(spec: TextSpec, name: str, styles: Styles) -> Space:
    # Not Gymnasium's Text: it needs a longest length and a list of all characters.
    return spaces.Sequence(name, (spec.min_length, spec.max_length), str)


@_space.register
def _(spec: SequenceSpec, name: str, styles: Styles) -> Space:
    dtype = _TYPES[spec.dtype]
    element = None
    if spec.low is not None or spec.high is not None:
        element = spaces.Scalar(name, spec.low, spec.high, int if dtype is bytes else dtype)
    size_range = (spec.min_length, spec.max_length)
    return spaces.Sequence(name, size_range, dtype, scalar_range=element)


@_space.register
def _(spec: PermutationSpec, name: str, styles: Styles) -> Space:
    return spaces.Permutation(name, spaces.Scalar(name, 0, spec.n - 1, int))


@_space.register
def _(spec: OpaqueSpec, name: str, styles: Styles) -> Space:
    return spaces.Opaque(name, spec.format)


@_space.register
def _(spec: DictSpec, name: str, styles: Styles) -> Space:
    # A list of pairs, because Gymnasium sorts a mapping.
    return spaces.Dict([(key, _space(item, key, styles)) for key, item in spec.items.items()], name)


@_space.register
def _(spec: TupleSpec, name: str, styles: Styles) -> Space:
    items = [_space(item, f"{name}[{i}]", styles) for i, item in enumerate(spec.items)]
    return spaces.Tuple(items, name)


@_space.register
def _(spec: SpaceSequenceSpec, name: str, styles: Styles) -> Space:
    item = _space(spec.space, f"{name}[]", styles)
    return spaces.SpaceSequence(name, item, (spec.min_length, spec.max_length))
