# SPDX-License-Identifier: MIT
"""Converts a session's plain descriptions to Gymnasium's spaces, and values both ways.

A session does not depend on Gymnasium and sends plain values. `_KINDS` has a row for each record
of `compiler_gym.session` that describes a space: a function that makes the space, and one that
makes a decoder of plain values. Decoders are built once for each space and run on every step.
They check types, shapes and sizes, because workers in other languages get those wrong; they do
not check bounds, and never return memory that is used elsewhere.
"""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple, NoReturn, TypeVar, cast

import gymnasium
import msgspec
import numpy as np
from numpy.typing import NDArray

from compiler_gym import spaces
from compiler_gym.errors import CompilerGymError, SessionError, UnknownNameError
from compiler_gym.lazy import pause_collection
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

Space = gymnasium.Space[Any]
Styles = Mapping[str, Callable[..., Space]]
"""Makes the space of a command line from ``(flags, name)``, by the name of a style."""
Decoder = Callable[[Any], Any]

_TYPES: dict[str, type] = {"bytes": bytes, "str": str, "int": int, "float": float, "bool": bool}
_WORDS: Styles = {"words": spaces.Commandline}


def space_from_spec(spec: SpaceSpec, name: str, *, styles: Styles | None = None) -> Space:
    """Return the space that `spec` describes.

    `styles` adds to the styles of command lines, which always include ``"words"``. Raises
    `UnknownNameError` for an unregistered style, and `SessionError` for a space that cannot be
    made.

    >>> space_from_spec(ScalarSpec(0, None, "int"), "size").contains(12)
    True
    >>> space_from_spec(NamedDiscreteSpec(("dce", "licm")), "passes")
    NamedDiscrete([dce, licm])
    """
    try:
        return _space(spec, name, {**_WORDS, **(styles or {})})
    except CompilerGymError:
        raise
    except (ArithmeticError, AssertionError, MemoryError, ValueError) as error:
        raise SessionError(f"invalid description of the space {name!r}: {error}") from error


def value_from_plain(spec: SpaceSpec) -> Decoder:
    """Return a function from the plain value that a session sends to the space's value.

    The result belongs to the caller; arrays are writable. The function raises `SessionError`
    for a value of the wrong type, shape or size. Bounds are not checked, because that would
    slow down every step.

    >>> decode = value_from_plain(BoxSpec(0, 255, (2, 2), "uint8"))
    >>> decode(bytes([1, 2, 3, 4]))
    array([[1, 2],
           [3, 4]], dtype=uint8)
    """
    return _find_kind(spec).decoder(spec)


def plain_from_value(space: Space, value: Any) -> Any:
    """Return a value of `space`, for example an action, as plain Python.

    >>> import gymnasium, numpy as np
    >>> plain_from_value(gymnasium.spaces.Discrete(3), np.int64(2))
    2
    """
    if isinstance(space, gymnasium.spaces.Discrete):
        return int(value)
    # A space may have its own plain form.
    return getattr(space, "to_plain", spaces.to_plain)(value)


class _Kind(NamedTuple):
    """The conversions for one kind of record."""

    space: Callable[[Any, str, Styles], Space]
    """Makes the space, from a record, a name and the styles of command lines."""
    decoder: Callable[[Any], Decoder]


_Spec = TypeVar("_Spec")


def _row(
    record: type[_Spec],
    space: Callable[[_Spec, str, Styles], Space],
    decoder: Callable[[_Spec], Decoder],
) -> tuple[type[Any], _Kind]:
    return record, _Kind(space, decoder)


def _find_kind(spec: SpaceSpec) -> _Kind:
    kind = _KINDS.get(type(spec))
    if kind is None:
        raise TypeError(f"expected the description of a space, got {spec!r}")
    return kind


def _space(spec: SpaceSpec, name: str, styles: Styles) -> Space:
    return _find_kind(spec).space(spec, name, styles)


def _command_line(spec: CommandlineSpec, name: str, styles: Styles) -> Space:
    style = _apply_style(spec.style, name, styles)
    flags = [spaces.CommandlineFlag(i.name, i.flag, i.description) for i in spec.items]
    return style(flags, name)


def _apply_style(style: str, name: str, styles: Styles) -> Callable[..., Space]:
    if style not in styles:
        raise UnknownNameError(
            f"the command line {name!r} has the unknown style {style!r}; "
            f"the styles are {', '.join(sorted(styles))}"
        )
    return styles[style]


def _box(spec: BoxSpec, name: str, styles: Styles) -> Space:
    kind = spaces.FreeBox if -1 in spec.shape else spaces.Box
    return kind(spec.low, spec.high, name, spec.shape, spec.dtype)


def _text_space(spec: TextSpec, name: str, styles: Styles) -> Space:
    # Not Gymnasium's Text: it needs a longest length and a list of all characters.
    return spaces.Sequence(name, (spec.min_length, spec.max_length), str)


def _permutation(spec: PermutationSpec, name: str, styles: Styles) -> Space:
    return spaces.Permutation(name, spaces.Scalar(name, 0, spec.n - 1, int))


def _sequence(spec: SequenceSpec, name: str, styles: Styles) -> Space:
    dtype = _TYPES[spec.dtype]
    element = None
    if spec.low is not None or spec.high is not None:
        element = spaces.Scalar(name, spec.low, spec.high, int if dtype is bytes else dtype)
    size_range = (spec.min_length, spec.max_length)
    return spaces.Sequence(name, size_range, dtype, scalar_range=element)


def _dict(spec: DictSpec, name: str, styles: Styles) -> Space:
    # A list of pairs, because Gymnasium sorts a mapping.
    items = [(key, _space(item, key, styles)) for key, item in spec.items.items()]
    return (
        _apply_style(spec.style, name, styles)(items, name)
        if spec.style
        else spaces.Dict(items, name)
    )


def _tuple(spec: TupleSpec, name: str, styles: Styles) -> Space:
    items = [_space(item, f"{name}[{i}]", styles) for i, item in enumerate(spec.items)]
    return spaces.Tuple(items, name)


def _space_sequence(spec: SpaceSequenceSpec, name: str, styles: Styles) -> Space:
    item = _space(spec.space, f"{name}[]", styles)
    return spaces.SpaceSequence(name, item, (spec.min_length, spec.max_length))


def _sequence_decoder(spec: SequenceSpec) -> Decoder:
    if spec.dtype in ("bytes", "str"):
        return _bytes if spec.dtype == "bytes" else _text
    element = _SCALARS[spec.dtype]
    if spec.as_array:
        dtype = np.dtype(_TYPES[spec.dtype])
        return lambda plain: _array_of_type([element(item) for item in _list(plain)], dtype)
    return lambda plain: [element(item) for item in _list(plain)]


def _dict_decoder(spec: DictSpec) -> Decoder:
    decoders = {key: value_from_plain(item) for key, item in spec.items.items()}

    def decode(plain: Any) -> dict[str, Any]:
        if not isinstance(plain, dict) or plain.keys() != decoders.keys():
            _refuse(plain, f"a dictionary of {', '.join(decoders)}")
        return {key: item(plain[key]) for key, item in decoders.items()}

    return decode


def _tuple_decoder(spec: TupleSpec) -> Decoder:
    decoders = [value_from_plain(item) for item in spec.items]

    def decode(plain: Any) -> tuple[Any, ...]:
        if len(_list(plain)) != len(decoders):
            _refuse(plain, f"a list of {len(decoders)} values")
        return tuple([item(part) for item, part in zip(decoders, plain, strict=True)])

    return decode


def _space_sequence_decoder(spec: SpaceSequenceSpec) -> Decoder:
    element = value_from_plain(spec.space)
    return lambda plain: tuple([element(item) for item in _list(plain)])


def _array_decoder(shape: tuple[int, ...], dtype_name: str) -> Decoder:
    dtype = np.dtype(dtype_name)
    wire = dtype.newbyteorder("<")
    is_flat = len(shape) == 1
    size = None if -1 in shape else prod(shape) * dtype.itemsize

    def decode(plain: Any) -> NDArray[Any]:
        if type(plain) is not bytes:
            return _array_from_list(plain, shape, dtype)
        if size is None:
            return _free_array(plain, shape, wire).astype(dtype)
        if len(plain) != size:
            _refuse(plain, f"{size} bytes of {dtype_name}{list(shape)}")
        flat = np.frombuffer(plain, wire).astype(dtype)
        return flat if is_flat else flat.reshape(shape)

    return decode


def _free_array(plain: bytes, shape: tuple[int, ...], wire: np.dtype[Any]) -> NDArray[Any]:
    """Return the bytes as an array; the length of the one free axis follows from their number."""
    try:
        return np.frombuffer(plain, wire).reshape(shape)
    except ValueError as error:
        raise SessionError(
            f"expected bytes of {wire.name}{list(shape)}, got {len(plain)} bytes: {error}"
        ) from error


def _array_from_list(plain: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    if isinstance(plain, (bytearray, memoryview)):
        return _array_decoder(shape, dtype.name)(_bytes(plain))
    array = spaces.make_array(plain, dtype, shape)
    if array is None:
        _refuse(plain, f"{dtype.name}{list(shape)}")
    return _array_of_type(plain, dtype).reshape(array.shape)


def _array_of_type(plain: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    try:
        return np.array(plain, dtype)
    except OverflowError as error:
        raise SessionError(f"expected {dtype.name}, got {_short(plain)}: {error}") from error


def _as_is(plain: Any) -> Any:
    return plain


def _integer(plain: Any) -> int:
    return plain if type(plain) is int else _refuse(plain, "an integer")


def _float(plain: Any) -> float:
    if type(plain) is float:
        return plain
    # Some encoders write 2.0 as 2.
    return float(plain) if type(plain) is int else _refuse(plain, "a number")


def _boolean(plain: Any) -> bool:
    return plain if type(plain) is bool else _refuse(plain, "true or false")


def _text(plain: Any) -> str:
    return plain if type(plain) is str else _refuse(plain, "text")


def _bytes(plain: Any) -> bytes:
    if isinstance(plain, (bytes, bytearray, memoryview)):
        return bytes(cast("bytes", plain))
    return _refuse(plain, "bytes")


def _list(plain: Any) -> Sequence[Any]:
    if isinstance(plain, (list, tuple)):
        return cast("Sequence[Any]", plain)
    return _refuse(plain, "a list")


def _json(plain: Any) -> Any:
    try:
        with pause_collection():
            return msgspec.json.decode(plain)
    except (RecursionError, TypeError, ValueError, msgspec.DecodeError) as error:
        raise SessionError(f"expected JSON text, got {_short(plain)}: {error}") from error


def _refuse(plain: Any, expected: str) -> NoReturn:
    raise SessionError(f"expected {expected}, got {_short(plain)}")


def _short(plain: Any) -> str:
    """Return a short description of a value for a message: its type, and its size or beginning."""
    kind = type(plain).__name__
    if isinstance(plain, (bytes, bytearray, memoryview)):
        return f"{len(_bytes(plain))} bytes"
    text = repr(plain)
    return f"{kind} {text if len(text) <= 60 else text[:57] + '...'}"


_SCALARS: dict[str, Decoder] = {"int": _integer, "float": _float, "bool": _boolean}
_KINDS = dict(
    [
        _row(
            DiscreteSpec,
            lambda spec, name, styles: spaces.Discrete(spec.n, name, spec.start),
            lambda spec: _integer,
        ),
        _row(
            NamedDiscreteSpec,
            lambda spec, name, styles: spaces.NamedDiscrete(spec.items, name),
            lambda spec: _integer,
        ),
        _row(CommandlineSpec, _command_line, lambda spec: _integer),
        _row(
            MultiDiscreteSpec,
            lambda spec, name, styles: spaces.MultiDiscrete(
                spec.nvec,
                name,
                parts=[spaces.ActionPart(p.name, p.values, p.description) for p in spec.parts],
            ),
            lambda spec: _array_decoder((len(spec.nvec),), "int64"),
        ),
        _row(
            MultiBinarySpec,
            lambda spec, name, styles: spaces.MultiBinary(spec.n, name),
            lambda spec: _array_decoder((spec.n,), "int8"),
        ),
        _row(BoxSpec, _box, lambda spec: _array_decoder(spec.shape, spec.dtype)),
        _row(
            ScalarSpec,
            lambda spec, name, styles: spaces.Scalar(name, spec.low, spec.high, _TYPES[spec.dtype]),
            lambda spec: _SCALARS[spec.dtype],
        ),
        _row(TextSpec, _text_space, lambda spec: _text),
        _row(SequenceSpec, _sequence, _sequence_decoder),
        _row(PermutationSpec, _permutation, lambda spec: _array_decoder((spec.n,), "int64")),
        _row(
            OpaqueSpec,
            lambda spec, name, styles: spaces.Opaque(name, spec.format),
            lambda spec: _json if spec.format == "json" else _as_is,
        ),
        _row(DictSpec, _dict, _dict_decoder),
        _row(TupleSpec, _tuple, _tuple_decoder),
        _row(SpaceSequenceSpec, _space_sequence, _space_sequence_decoder),
    ]
)
"""The conversions of each record."""
