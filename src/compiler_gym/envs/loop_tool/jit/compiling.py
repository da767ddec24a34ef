# SPDX-License-Identifier: MIT
"""Machine code of textual LLVM IR, and calls of it.

Nothing here looks at the IR. Equal requests are compiled once, as long as they are among the
last 128 of the process.
"""

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from compiler_gym.envs.loop_tool.jit._module import jit_module
from compiler_gym.errors import InvalidParameterError

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
    """A function and the arrays that it is called on; both live as long as this."""

    bound: "NativeCall"
    code: "Compiled"
    arrays: tuple[NDArray[Any], ...]

    def run(self) -> None:
        """Call it once, without the interpreter's lock."""
        self.bound.run()


@dataclass(frozen=True, slots=True)
class Compiled:
    """The code of one module. Its addresses are good as long as this lives."""

    code: "NativeCode" = field(repr=False)

    @property
    def size(self) -> int:
        """The bytes of the object file."""
        return self.code.size

    @property
    def seconds(self) -> dict[str, float]:
        """The wall time of each stage of the compilation."""
        stages = self.code.stages
        return {name: getattr(stages, name) for name in ("read", "optimise", "generate", "link")}

    def address(self, name: str) -> int:
        """Return where a function is; `CompilerDiagnosticError` tells what is missing."""
        return self.code.address(name)

    def function(self, name: str, *arguments: Any, result: Any = None) -> Any:
        """Return a function that ctypes calls, of arguments and a result of ctypes' types.

        MLIR's C interfaces are called so: ``function("_mlir_ciface_f", c_void_p, c_void_p)``.
        """
        made: Any = ctypes.CFUNCTYPE(result, *arguments)(self.address(name))
        made.code = self  # whoever holds the function holds its code
        return made

    def on(self, name: str, arrays: Sequence[NDArray[Any]]) -> Call:
        """Return a call of ``void name(void **buffers)`` on the data of arrays in C order."""
        for number, array in enumerate(arrays):
            if not array.flags.c_contiguous:
                raise InvalidParameterError(
                    f"array {number} of {name} is not in C order: pass a copy of it"
                )
        addresses = [array.ctypes.data for array in arrays]
        bound = jit_module().Call(self.address(name), addresses)
        return Call(bound, self, tuple(arrays))


def compile_ir(
    ir: str, *, level: int | None = 2, symbols: Mapping[str, int] | None = None
) -> Compiled:
    """Return the machine code of textual LLVM IR for this machine's processor.

    `level` 0 to 3 runs LLVM's default pipeline of that level first, None no pass. Functions that
    the module declares are looked up in `symbols`, a mapping to addresses, then in this process.
    Raises `InvalidIrError` for what is no IR, `InvalidParameterError` for another machine's,
    `CompilerDiagnosticError` where a function is missing and `CompilerFatalError` where LLVM
    gives up.
    """
    chosen = _NO_PASSES if level is None else level
    if chosen != _NO_PASSES and not 0 <= chosen <= 3:
        raise InvalidParameterError(f"the level is {level}: expected 0 to 3, or None for no pass")
    return Compiled(jit_module().compile_cached(ir, chosen, dict(symbols or {})))


def assembly(
    ir: str, *, triple: str = "", cpu: str = "", features: str = "", level: int | None = 2
) -> str:
    """Return assembly of textual IR: for this machine, or PTX for ``nvptx64-nvidia-cuda``."""
    chosen = _NO_PASSES if level is None else level
    return jit_module().assembly(ir, triple, cpu, features, chosen)


def vector_lanes(kind: type[np.generic] = np.float32) -> int:
    """Return how many numbers of a type the widest vector register of this machine holds."""
    return jit_module().vector_bits() // (8 * np.dtype(kind).itemsize)


def threads() -> int:
    """Return how many threads share a parallel loop."""
    return jit_module().thread_count()


def set_threads(count: int) -> None:
    """Share parallel loops among `count` threads; 0 is one for each processor of this process."""
    if not 0 <= count <= 1024:
        raise InvalidParameterError(f"{count} threads: expected 0 to 1024")
    jit_module().set_thread_count(count)
