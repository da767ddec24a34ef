# SPDX-License-Identifier: MIT
"""Compile textual LLVM IR to machine code, and call it.

The IR is not interpreted here. Equal requests are compiled once, as long as they are among the
last 128 in the process.
"""

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from compiler_gym.errors import InvalidParameterError
from compiler_gym_loop_tool.jit._module import jit_module

if TYPE_CHECKING:
    from compiler_gym._jit import Call as NativeCall
    from compiler_gym._jit import Code as NativeCode

__all__ = [
    "Call",
    "Compiled",
    "assembly",
    "compile_ir",
    "set_threads",
    "threads",
    "vector_lanes",
]

_NO_PASSES = -1


@dataclass(frozen=True, slots=True)
class Call:
    """A function and its array arguments, both kept alive by this object."""

    bound: "NativeCall"
    code: "Compiled"
    arrays: tuple[NDArray[Any], ...]

    def run(self) -> None:
        """Call the function once, without the interpreter's lock."""
        self.bound.run()


@dataclass(frozen=True, slots=True)
class Compiled:
    """The code of one module. Its addresses are valid as long as this object lives."""

    code: "NativeCode" = field(repr=False)

    @property
    def size(self) -> int:
        """Size of the object file in bytes."""
        return self.code.size

    @property
    def seconds(self) -> dict[str, float]:
        """Wall time of each compilation stage, in seconds."""
        stages = self.code.stages
        return {name: getattr(stages, name) for name in ("read", "optimise", "generate", "link")}

    def address(self, name: str) -> int:
        """Return the address of a function; `CompilerDiagnosticError` if it does not exist."""
        return self.code.address(name)

    def function(self, name: str, *arguments: Any, result: Any = None) -> Any:
        """Return a ctypes function with arguments and a result of ctypes types.

        MLIR's C interfaces are called like this: ``function("_mlir_ciface_f", c_void_p)``.
        """
        native: Any = ctypes.CFUNCTYPE(result, *arguments)(self.address(name))
        native.code = self  # keeps the code alive
        return native

    def on(self, name: str, arrays: Sequence[NDArray[Any]]) -> Call:
        """Return a call of ``void name(void **buffers)`` on the data of C-ordered arrays."""
        for number, array in enumerate(arrays):
            if not array.flags.c_contiguous:
                raise InvalidParameterError(
                    f"array {number} of {name} is not in C order: pass a C-ordered copy"
                )
        addresses = [array.ctypes.data for array in arrays]
        bound = jit_module().Call(self.address(name), addresses)
        return Call(bound, self, tuple(arrays))


def compile_ir(
    ir: str, *, level: int | None = 2, symbols: Mapping[str, int] | None = None
) -> Compiled:
    """Compile textual LLVM IR to machine code for this machine's processor.

    `level` 0 to 3 first runs LLVM's default pipeline of that level; None runs no passes. Functions
    that the module declares are looked up in `symbols`, a mapping to addresses, then in this
    process. Raises `InvalidIrError` for invalid IR, `InvalidParameterError` for IR for another
    machine, `CompilerDiagnosticError` if a function is missing and `CompilerFatalError` if LLVM
    fails.
    """
    pipeline = _NO_PASSES if level is None else level
    if pipeline != _NO_PASSES and not 0 <= pipeline <= 3:
        raise InvalidParameterError(f"level must be 0 to 3, or None for no passes (got {level})")
    return Compiled(jit_module().compile_cached(ir, pipeline, dict(symbols or {})))


def assembly(
    ir: str, *, triple: str = "", cpu: str = "", features: str = "", level: int | None = 2
) -> str:
    """Return assembly for textual IR: for this machine, or PTX for ``nvptx64-nvidia-cuda``."""
    pipeline = _NO_PASSES if level is None else level
    return jit_module().assembly(ir, triple, cpu, features, pipeline)


def vector_lanes(kind: type[np.generic] = np.float32) -> int:
    """Return the number of elements of a type in this machine's widest vector register."""
    return jit_module().vector_bits() // (8 * np.dtype(kind).itemsize)


def threads() -> int:
    """Return the number of threads that share a parallel loop."""
    return jit_module().thread_count()


def set_threads(count: int) -> None:
    """Share parallel loops among `count` threads; 0 means one per available processor."""
    if not 0 <= count <= 1024:
        raise InvalidParameterError(f"the number of threads must be 0 to 1024 (got {count})")
    jit_module().set_thread_count(count)
