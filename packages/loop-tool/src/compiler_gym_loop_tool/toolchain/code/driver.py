# SPDX-License-Identifier: MIT
"""Call NVIDIA's driver through ctypes: PTX modules, memory, launches, and timing with events.

Nothing is loaded before a GPU is needed. A failure of the driver is a `SessionError` with its
name; `is_available` reports whether a driver and a GPU exist.
"""

import ctypes
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler_gym.errors import ObservationError, SessionError
from compiler_gym_loop_tool.toolchain.code.gpu import ARCHITECTURES, Kernels, ptx

__all__ = ["Card", "Loaded", "is_available", "open_card"]

_MAJOR, _MINOR = 75, 76
_WITHOUT_A_CARD = (
    "use a machine with a GPU and its driver, a program without `target cuda` (such as "
    "loop_tool-cpu-v0), or an observation that needs no GPU (flops_deterministic, loop_tree, ptx)"
)


def is_available() -> bool:
    """Return True if this machine has a driver and a GPU."""
    try:
        open_card()
    except (ObservationError, SessionError):
        return False
    return True


@cache
def open_card() -> "Card":
    """Return the first GPU, or raise `ObservationError` if there is none."""
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise ObservationError(
            f"NVIDIA's driver (libcuda.so.1) not found, so nothing can run on a GPU: "
            f"{_WITHOUT_A_CARD}"
        ) from error
    try:
        return Card(library)
    except SessionError as error:
        raise ObservationError(
            f"NVIDIA's driver cannot open a GPU on this machine ({error}): {_WITHOUT_A_CARD}"
        ) from error


class Card:
    """A context on the first GPU, used by one thread."""

    def __init__(self, library: Any) -> None:
        self.library = library
        self.call("cuInit", 0)
        device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)
        self.call("cuCtxSetCurrent", self.context)
        major, minor = (self.attribute(device, number) for number in (_MAJOR, _MINOR))
        self.architecture = _architecture(10 * major + minor)
        """The target architecture of PTX."""

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of the driver; raise `SessionError` if it fails."""
        status = getattr(self.library, name)(*arguments)
        if status:
            text = ctypes.c_char_p()
            self.library.cuGetErrorName(status, ctypes.byref(text))
            reason = (text.value or b"").decode() or str(status)
            raise SessionError(f"{name} of NVIDIA's driver failed: {reason}")

    def attribute(self, device: ctypes.c_int, number: int) -> int:
        """Return a property of a device."""
        value = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(value), number, device)
        return value.value

    def run(
        self, kernels: Kernels, arrays: Sequence[NDArray[np.float32]], repeats: int = 1
    ) -> float:
        """Run kernels on copies of arrays, and copy the results back.

        Returns the seconds of one run, the mean of `repeats` in a row, without the copies.
        """
        with self.load(kernels, ptx(kernels, self.architecture), arrays) as loaded:
            seconds = loaded.seconds(repeats)
            loaded.copy_back(arrays)
        return seconds

    @contextmanager
    def load(
        self, kernels: Kernels, text: str, arrays: Sequence[NDArray[np.float32]]
    ) -> Generator["Loaded"]:
        """Keep the PTX of kernels and copies of arrays on the GPU."""
        self.call("cuCtxSetCurrent", self.context)
        module, memory = ctypes.c_void_p(), list[ctypes.c_uint64]()
        self.call("cuModuleLoadData", ctypes.byref(module), text.encode() + b"\0")
        try:
            for array in arrays:
                memory.append(self.copy_array(array))
            addresses = np.array([address.value for address in memory], np.uint64)
            memory.append(self.copy_array(addresses))
            functions = [
                self.function(module, launch.kernel.encode()) for launch in kernels.launches
            ]
            yield Loaded(self, kernels, functions, memory)
        finally:
            for address in memory:
                self.call("cuMemFree_v2", address)
            self.call("cuModuleUnload", module)

    def copy_array(self, array: NDArray[Any]) -> ctypes.c_uint64:
        """Return the address of a copy of an array on the GPU."""
        address, size = ctypes.c_uint64(), ctypes.c_size_t(array.nbytes)
        self.call("cuMemAlloc_v2", ctypes.byref(address), size)
        try:
            self.call("cuMemcpyHtoD_v2", address, ctypes.c_void_p(array.ctypes.data), size)
        except SessionError:
            self.call("cuMemFree_v2", address)
            raise
        return address

    def function(self, module: ctypes.c_void_p, name: bytes) -> ctypes.c_void_p:
        """Return a kernel of a module by name."""
        kernel = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(kernel), module, name)
        return kernel

    def time_kernels(
        self,
        kernels: Kernels,
        functions: Sequence[ctypes.c_void_p],
        table: ctypes.c_uint64,
        repeats: int,
    ) -> float:
        """Launch the kernels `repeats` times and return the seconds per run."""
        arguments = (ctypes.c_void_p * 1)(ctypes.addressof(table))
        events = [ctypes.c_void_p(), ctypes.c_void_p()]
        for event in events:
            self.call("cuEventCreate", ctypes.byref(event), 0)
        self.call("cuEventRecord", events[0], None)
        for _ in range(repeats):
            for launch, function in zip(kernels.launches, functions, strict=True):
                self.call(
                    "cuLaunchKernel", function, launch.blocks, 1, 1, launch.threads, 1, 1, 0, None,
                    arguments, None,
                )  # fmt: skip
        self.call("cuEventRecord", events[1], None)
        self.call("cuEventSynchronize", events[1])
        milliseconds = ctypes.c_float()
        self.call("cuEventElapsedTime", ctypes.byref(milliseconds), *events)
        for event in events:
            self.call("cuEventDestroy_v2", event)
        return milliseconds.value / 1e3 / repeats


def _architecture(capability: int) -> str:
    """Return the newest architecture that both LLVM and a GPU of a capability support.

    For a GPU older than all of them, return the oldest, which the driver rejects by name.
    """
    supported = (architecture for architecture in ARCHITECTURES if architecture <= capability)
    return f"sm_{max(supported, default=ARCHITECTURES[0])}"


@dataclass(frozen=True, slots=True)
class Loaded:
    """Kernels and memory on the GPU, valid while `Card.load` keeps them."""

    card: Card
    kernels: Kernels
    functions: Sequence[ctypes.c_void_p]
    memory: Sequence[ctypes.c_uint64]
    """The address of each array, and last of the table of addresses."""

    def seconds(self, repeats: int = 1) -> float:
        """Run the kernels `repeats` times in a row and return the seconds per run."""
        return self.card.time_kernels(self.kernels, self.functions, self.memory[-1], repeats)

    def copy_back(self, arrays: Sequence[NDArray[np.float32]]) -> None:
        """Copy the contents of the GPU's memory into arrays."""
        for array, address in zip(arrays, self.memory, strict=False):
            size = ctypes.c_size_t(array.nbytes)
            self.card.call("cuMemcpyDtoH_v2", ctypes.c_void_p(array.ctypes.data), address, size)
