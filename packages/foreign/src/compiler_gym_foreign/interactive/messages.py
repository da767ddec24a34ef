# SPDX-License-Identifier: MIT
"""The messages of a compiler that requests decisions, parsed from bytes, and the answers.

A line of JSON names the tensors. After that, each question is a line of JSON, the bytes of the
tensors in their order, and a newline. An answer is the bytes of one tensor.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from compiler_gym.errors import ServiceTransportError

__all__ = ["CompilerQuestion", "FeatureTensor", "Header", "Reader"]

_MOST_LINE = 1 << 20
"""Limit of a JSON line in bytes: a header of 39 tensors has 4,000."""
_MOST_TENSOR = 1 << 28
_MOST_QUOTED = 120
_TYPES = {
    "float": "f4", "double": "f8",
    "int8_t": "i1", "int16_t": "i2", "int32_t": "i4", "int64_t": "i8",
    "uint8_t": "u1", "uint16_t": "u2", "uint32_t": "u4", "uint64_t": "u8",
}  # fmt: skip
"""NumPy's types, by LLVM's names."""


@dataclass(frozen=True, slots=True)
class FeatureTensor:
    """The name, type and shape of a tensor."""

    name: str
    type: str
    """The name of the type in LLVM: ``int64_t``, ``float``, ..."""
    shape: tuple[int, ...]
    port: int = 0

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The type of an element."""
        return np.dtype(_TYPES[self.type])

    @property
    def size(self) -> int:
        """Number of bytes of one value."""
        return self.dtype.itemsize * math.prod(self.shape)

    def pack(self, value: ArrayLike) -> bytes:
        """Return the bytes of a value; raise `ServiceTransportError` for a wrong element count."""
        array = np.asarray(value).astype(self.dtype)
        if array.size != math.prod(self.shape):
            raise ServiceTransportError(
                f"{self.name}: expected {math.prod(self.shape)} numbers, got {array.size}"
            )
        return array.tobytes()


@dataclass(frozen=True, slots=True)
class Header:
    """The first message of a compiler: the tensors of each question, and of an answer."""

    features: tuple[FeatureTensor, ...]
    advice: FeatureTensor

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features, in the order in which they are sent."""
        return tuple(feature.name for feature in self.features)

    @property
    def size(self) -> int:
        """Number of bytes of the tensors of one question."""
        return sum(feature.size for feature in self.features)


@dataclass(frozen=True, slots=True)
class CompilerQuestion:
    """A decision that a compiler waits for."""

    context: str
    """The subject of the question, such as a function; often empty."""
    number: int
    """The compiler's number of the question, in each context from 0."""
    tensors: tuple[NDArray[Any], ...]
    """A value for each feature of the header, in its order and shape; read-only."""


class Reader:
    """Parses bytes, in parts of any size, into headers and questions."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._header: Header | None = None
        self._context = ""
        self._asked: int | None = None  # the number of the question whose tensors are next

    @property
    def is_between_messages(self) -> bool:
        """True if no message is incomplete; False if a compiler ended within a message."""
        return not self._buffer and self._asked is None

    def feed(self, data: bytes) -> Iterator[Header | CompilerQuestion]:
        """Yield the messages that are complete with `data`.

        Raises:
            ServiceTransportError: The bytes do not follow this protocol; the message names the
                expected and the actual bytes.
        """
        self._buffer += data
        while (message := self._next()) is not None:
            if not isinstance(message, str):
                yield message

    def _next(self) -> Header | CompilerQuestion | str | None:
        """Return one message, or the context of the following ones, if one is complete."""
        if self._asked is not None:
            return self._tensors()
        end = self._buffer.find(b"\n")
        if end < 0:
            if len(self._buffer) > _MOST_LINE:
                raise _report_unexpected("a line of JSON", self._buffer)
            return None
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        message = _object_in(line)
        if "features" in message:
            self._header, self._context = _header_in(message, line), ""
            return self._header
        if "context" in message:
            self._context = str(message["context"])
            return self._context
        if self._header is None or not isinstance(message.get("observation"), int):
            expected = "the features" if self._header is None else "a context or an observation"
            raise _report_unexpected(f"a line that names {expected}", line)
        self._asked = message["observation"]
        return self._tensors()

    def _tensors(self) -> CompilerQuestion | None:
        assert self._header is not None
        assert self._asked is not None
        size = self._header.size
        if len(self._buffer) <= size:
            return None
        data, newline = bytes(self._buffer[:size]), bytes(self._buffer[size : size + 1])
        if newline != b"\n":
            raise _report_unexpected("a newline after the tensors", newline)
        del self._buffer[: size + 1]
        tensors: list[NDArray[Any]] = []
        at = 0
        for feature in self._header.features:
            flat = np.frombuffer(data, feature.dtype, math.prod(feature.shape), at)
            tensors.append(flat.reshape(feature.shape))
            at += feature.size
        question = CompilerQuestion(self._context, self._asked, tuple(tensors))
        self._asked = None
        return question


def _object_in(line: bytes) -> Mapping[str, Any]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        raise _report_unexpected("a line of JSON", line)
    return message  # pyright: ignore[reportUnknownVariableType]  # JSON


def _header_in(message: Mapping[str, Any], line: bytes) -> Header:
    try:
        header = Header(tuple(map(_tensor_in, message["features"])), _tensor_in(message["advice"]))
        if header.size > _MOST_TENSOR:
            raise ValueError(f"features of {header.size} bytes")
    except (KeyError, TypeError, ValueError) as error:
        raise _report_unexpected(
            "a name, a type and a shape for each feature and the advice", line
        ) from (error)
    return header


def _tensor_in(fields: Mapping[str, Any]) -> FeatureTensor:
    shape = tuple(int(length) for length in fields["shape"])
    port = int(fields.get("port", 0))
    tensor = FeatureTensor(str(fields["name"]), str(fields["type"]), shape, port)
    if min(shape, default=1) < 0 or not 0 <= tensor.size <= _MOST_TENSOR:
        raise ValueError(f"a tensor of shape {shape}")
    return tensor


def _report_unexpected(expected: str, data: bytes | bytearray) -> ServiceTransportError:
    return ServiceTransportError(
        f"the compiler does not follow the InteractiveModelRunner protocol: expected {expected}, "
        f"got {bytes(data[:_MOST_QUOTED])!r}"
    )
