# SPDX-License-Identifier: MIT
"""Decoders of what sessions send, built once per space and run on every step.

They check types, shapes and sizes, because workers in other languages get those
wrong; they leave bounds alone, and never hand out memory that somebody else holds.
"""

from collections.abc import Callable
from functools import singledispatch
from math import prod
from typing import Any, NoReturn

import msgspec
import numpy as np
from numpy.typing import NDArray

from compiler_gym.core.collector import uncollected
from compiler_gym.errors import SessionError
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
    TextSpec,
    TupleSpec,
)
from compiler_gym.spaces import array_of

__all__ = ["Decoder", "decoder"]

Decoder = Callable[[Any], Any]


@singledispatch
def decoder(spec: Any) -> Decoder:
    """Return the function that decodes values of `spec`."""
    raise TypeError(f"expected the description of a space, found {spec!r}")


@decoder.register(DiscreteSpec)
@decoder.register(NamedDiscreteSpec)
@decoder.register(CommandlineSpec)
def _(spec: Any) -> Decoder:
    return _integer


@decoder.register
def _(spec: MultiDiscreteSpec) -> Decoder:
    return _array_decoder((len(spec.nvec),), "int64")


@decoder.register
def _(spec: MultiBinarySpec) -> Decoder:
    return _array_decoder((spec.n,), "int8")


@decoder.register
def _(spec: PermutationSpec) -> Decoder:
    return _array_decoder((spec.n,), "int64")


@decoder.register
def _(spec: BoxSpec) -> Decoder:
    return _array_decoder(spec.shape, spec.dtype)


@decoder.register
def _(spec: ScalarSpec) -> Decoder:
    return _SCALARS[spec.dtype]


@decoder.register
def _(spec: TextSpec) -> Decoder:
    return _text


@decoder.register
def _(spec: SequenceSpec) -> Decoder:
    if spec.dtype in ("bytes", "str"):
        return _bytes if spec.dtype == "bytes" else _text
    element = _SCALARS[spec.dtype]
    return lambda plain: [element(item) for item in _list(plain)]


@decoder.register
def _(spec: OpaqueSpec) -> Decoder:
    return _json if spec.format == "json" else lambda plain: plain


@decoder.register
def _(spec: DictSpec) -> Decoder:
    decoders = {key: decoder(item) for key, item in spec.items.items()}

    def decode(plain: Any) -> dict[str, Any]:
        if not isinstance(plain, dict) or plain.keys() != decoders.keys():
            _refuse(plain, f"a dictionary of {', '.join(decoders)}")
        return {key: item(plain[key]) for key, item in decoders.items()}

    return decode


@decoder.register
def _(spec: TupleSpec) -> Decoder:
    decoders = [decoder(item) for item in spec.items]

    def decode(plain: Any) -> tuple[Any, ...]:
        if len(_list(plain)) != len(decoders):
            _refuse(plain, f"a list of {len(decoders)} values")
        return tuple([item(part) for item, part in zip(decoders, plain, strict=True)])

    return decode


@decoder.register
def _(spec: SpaceSequenceSpec) -> Decoder:
    element = decoder(spec.space)
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
    """Return the bytes as an array whose one free axis takes what there is."""
    try:
        return np.frombuffer(plain, wire).reshape(shape)
    except ValueError as error:
        raise SessionError(
            f"expected bytes of {wire.name}{list(shape)}, found {len(plain)} bytes: {error}"
        ) from error


def _array_from_list(plain: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    if isinstance(plain, (bytearray, memoryview)):
        return _array_decoder(shape, dtype.name)(bytes(plain))
    array = array_of(plain, dtype, shape)
    if array is None:
        _refuse(plain, f"{dtype.name}{list(shape)}")
    try:
        return np.array(plain, dtype=dtype).reshape(array.shape)
    except OverflowError as error:
        raise SessionError(f"expected {dtype.name}, found {_short(plain)}: {error}") from error


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
    return plain if type(plain) is bytes else bytes(_buffer(plain))


def _buffer(plain: Any) -> bytearray | memoryview:
    return plain if isinstance(plain, (bytearray, memoryview)) else _refuse(plain, "bytes")


def _list(plain: Any) -> list[Any] | tuple[Any, ...]:
    return plain if isinstance(plain, (list, tuple)) else _refuse(plain, "a list")


def _json(plain: Any) -> Any:
    try:
        with uncollected():
            return msgspec.json.decode(plain)
    except (RecursionError, TypeError, ValueError, msgspec.DecodeError) as error:
        raise SessionError(f"expected JSON text, found {_short(plain)}: {error}") from error


def _refuse(plain: Any, expected: str) -> NoReturn:
    raise SessionError(f"expected {expected}, found {_short(plain)}")


def _short(plain: Any) -> str:
    """Return a value for a message: its type, and its size or its beginning."""
    kind = type(plain).__name__
    if isinstance(plain, (bytes, bytearray, memoryview)):
        return f"{len(plain)} bytes"
    text = repr(plain)
    return f"{kind} {text if len(text) <= 60 else text[:57] + '...'}"


_SCALARS: dict[str, Decoder] = {"int": _integer, "float": _float, "bool": _boolean}
