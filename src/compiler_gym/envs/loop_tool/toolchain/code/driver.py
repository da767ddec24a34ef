# SPDX-License-Identifier: MIT
"""NVIDIA's driver, called through ctypes: modules of PTX, memory, launches, and time by events.

Nothing is loaded before a card is asked for. What the driver refuses is a `SessionError` with its
name; a machine without a driver or a card is told by `is_available`.
"""

import ctypes
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler_gym.envs.loop_tool.toolchain.code.gpu import ARCHITECTURES, Kernels, ptx
from compiler_gym.errors import ObservationError, SessionError

__all__ = ["Card", "Loaded", "is_available", "open_card"]

_MAJOR, _MINOR = 75, 76
_WITHOUT_A_CARD = (
    "expected a card and its driver, a program without `target cuda` (such as loop_tool-cpu-v0), "
    "or what needs no card (flops_deterministic, loop_tree, llvm_ir, ptx)"
)


def is_available() -> bool:
    """Return whether this machine has a driver and a card."""
    try:
        open_card()
    except (ObservationError, SessionError):
        return False
    return True


@cache
def open_card() -> "Card":
    """Return the first card, or raise `ObservationError` where there is none."""
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise ObservationError(
            f"this machine has no driver of NVIDIA's (libcuda.so.1), so nothing can run on a card: "
            f"{_WITHOUT_A_CARD}"
        ) from error
    try:
        return Card(library)
    except SessionError as error:
        raise ObservationError(
            f"this machine has NVIDIA's driver and no card that it opens ({error}): "
            f"{_WITHOUT_A_CARD}"
        ) from error


class Card:
    """A context on the first card. Used by one thread."""

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
        """What PTX is made for."""

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of the driver; `SessionError` where it does not succeed."""
        status = getattr(self.library, name)(*arguments)
        if status:
            text = ctypes.c_char_p()
            self.library.cuGetErrorName(status, ctypes.byref(text))
            said = (text.value or b"").decode() or str(status)
            raise SessionError(f"{name} of NVIDIA's driver failed: {said}")

    def attribute(self, device: ctypes.c_int, number: int) -> int:
        """Return a property of a device."""
        value = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(value), number, device)
        return value.value

    def run(
        self, kernels: Kernels, arrays: Sequence[NDArray[np.float32]], repeats: int = 1
    ) -> float:
        """Run kernels on copies of arrays, and copy back what they hold then.

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
        """Hold the PTX of kernels and copies of arrays on the card."""
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
        """Return the address of a copy of an array on the card."""
        address, size = ctypes.c_uint64(), ctypes.c_size_t(array.nbytes)
        self.call("cuMemAlloc_v2", ctypes.byref(address), size)
        try:
            self.call("cuMemcpyHtoD_v2", address, ctypes.c_void_p(array.ctypes.data), size)
        except SessionError:
            self.call("cuMemFree_v2", address)
            raise
        return address

    def function(self, module: ctypes.c_void_p, name: bytes) -> ctypes.c_void_p:
        """Return a kernel of a module."""
        found = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(found), module, name)
        return found

    def time_kernels(
        self,
        kernels: Kernels,
        functions: Sequence[ctypes.c_void_p],
        table: ctypes.c_uint64,
        repeats: int,
    ) -> float:
        """Launch the kernels `repeats` times and return the seconds of one."""
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
    """Return the newest architecture that LLVM knows and a card of a capability runs.

    For a card that is older than all of them it is the oldest, which the driver refuses by name.
    """
    known = (one for one in ARCHITECTURES if one <= capability)
    return f"sm_{max(known, default=ARCHITECTURES[0])}"


@dataclass(frozen=True, slots=True)
class Loaded:
    """Kernels and memory on the card, as long as `Card.loaded` holds them."""

    card: Card
    kernels: Kernels
    functions: Sequence[ctypes.c_void_p]
    memory: Sequence[ctypes.c_uint64]
    """The address of each array, and of the table of them."""

    def seconds(self, repeats: int = 1) -> float:
        """Run the kernels `repeats` times in a row and return the seconds of one."""
        return self.card.time_kernels(self.kernels, self.functions, self.memory[-1], repeats)

    def copy_back(self, arrays: Sequence[NDArray[np.float32]]) -> None:
        """Copy what the card holds into arrays."""
        for array, address in zip(arrays, self.memory, strict=False):
            size = ctypes.c_size_t(array.nbytes)
            self.card.call("cuMemcpyDtoH_v2", ctypes.c_void_p(array.ctypes.data), address, size)
