# SPDX-License-Identifier: MIT
"""Call machine code on arrays, and time it."""

import ctypes
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler_gym_mlir.toolchain.bindings import load

__all__ = [
    "Array",
    "Call",
    "Kernel",
    "Tensor",
    "align_array",
    "measure_times",
    "random_inputs",
    "read_signature",
]

Array = NDArray[Any]
_ALIGNMENT = 64
_DTYPES = {"f32": "float32", "f64": "float64", "i32": "int32", "i64": "int64"}


@dataclass(frozen=True, slots=True)
class Tensor:
    """The shape and the NumPy type of an argument or a result."""

    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class Kernel:
    """Machine code and its signature; `engine` owns the code."""

    engine: Any
    entry: Any
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]

    def bind(self, inputs: Sequence[Array], outputs: Sequence[Array] = ()) -> "Call":
        """Return a call on `inputs` that writes to `outputs`, or to new arrays."""
        return Call(self, inputs, outputs or self.room())

    def room(self) -> list[Array]:
        """Return new arrays for the results."""
        return [align_array(np.zeros(tensor.shape, tensor.dtype)) for tensor in self.outputs]


class Call:
    """Machine code with its arguments: each call overwrites the same outputs.

    Arrays aligned to 64 bytes are used directly, others are copied.
    """

    def __init__(self, kernel: Kernel, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        self._kernel = kernel
        self._inputs = [align_array(array) for array in inputs]
        self.outputs = [align_array(array) for array in outputs]
        """The results of the last call."""
        self._descriptors = [_descriptor(array) for array in (*self._inputs, *self.outputs)]
        pointers = [ctypes.c_void_p(ctypes.addressof(item)) for item in self._descriptors]
        self._slots = pointers
        addresses = [ctypes.addressof(pointer) for pointer in pointers]
        self._arguments = (ctypes.c_void_p * len(addresses))(*addresses)

    def __call__(self) -> None:
        """Run the code once."""
        self._kernel.entry(self._arguments)

    def seconds(self, repeats: int) -> float:
        """Return the mean seconds of `repeats` runs."""
        entry, arguments = self._kernel.entry, self._arguments
        begin = time.perf_counter()
        for _ in range(repeats):
            entry(arguments)
        return (time.perf_counter() - begin) / repeats


def measure_times(call: Call, count: int, warmups: int, *, least: float = 200e-6) -> list[float]:
    """Return `count` times of one run in seconds, after `warmups` runs that do not count.

    A run shorter than `least` seconds is repeated for that long, and its time is the mean.
    """
    for _ in range(warmups):
        call()
    once = call.seconds(1)
    if once >= least:
        return [once, *(call.seconds(1) for _ in range(count - 1))]
    repeats = max(1, int(least / max(call.seconds(1), 1e-9)))
    return [call.seconds(repeats) for _ in range(count)]


def read_signature(module: Any) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Return the types of the arguments and results of a payload's function."""
    ir = load().ir
    function = module.body.operations[0].operation
    kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    return tuple(map(_tensor, kind.inputs)), tuple(map(_tensor, kind.results))


def random_inputs(tensors: Sequence[Tensor], seed: int = 0) -> list[Array]:
    """Return arrays of random numbers: normally distributed, or small integers."""
    generator = np.random.default_rng(seed)
    arrays: list[Array] = []
    for tensor in tensors:
        if tensor.dtype.startswith("int"):
            arrays.append(generator.integers(-8, 9, tensor.shape).astype(tensor.dtype))
        else:
            arrays.append(generator.standard_normal(tensor.shape, np.float32).astype(tensor.dtype))
    return arrays


def align_array(array: Array) -> Array:
    """Return `array`, or a copy aligned to 64 bytes."""
    if array.flags.c_contiguous and not array.ctypes.data % _ALIGNMENT:
        return array
    buffer = np.empty(array.nbytes + _ALIGNMENT, np.uint8)
    start = -buffer.ctypes.data % _ALIGNMENT
    copy = buffer[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def _tensor(kind: Any) -> Tensor:
    return Tensor(
        tuple(int(kind.get_dim_size(i)) for i in range(kind.rank)), _DTYPES[str(kind.element_type)]
    )


def _descriptor(array: Array) -> ctypes.Array[Any]:
    """Return MLIR's descriptor of an array: two pointers, an offset, the sizes and strides."""
    words = [array.ctypes.data, array.ctypes.data, 0]
    words += [*array.shape, *(stride // array.itemsize for stride in array.strides)]
    return (ctypes.c_int64 * len(words))(*words)
