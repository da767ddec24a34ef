# SPDX-License-Identifier: MIT
"""Loop trees as machine code that runs on arrays."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler_gym.errors import InvalidParameterError
from compiler_gym_loop_tool.jit import Call, Compiled, compile_ir, vector_lanes
from compiler_gym_loop_tool.state.program import Program
from compiler_gym_loop_tool.state.reference import random_inputs
from compiler_gym_loop_tool.state.tree import Tree
from compiler_gym_loop_tool.toolchain.code.cpu import ENTRY, lower

__all__ = ["CompiledNest", "compile_nest", "nest_ir", "tensor_memory"]

Floats = NDArray[np.float32]

_ALIGNMENT = 64


@dataclass(slots=True)
class CompiledNest:
    """A tree as machine code, with its own memory for timing."""

    program: Program
    code: Compiled
    is_threaded: bool
    """True if threads share one of its loops."""
    seconds: float = inf
    """Seconds per run at the last timing."""
    _call: Call | None = field(default=None, repr=False)

    def on(self, memory: Mapping[str, Floats]) -> Call:
        """Return a call on one array per tensor, in order."""
        return self.code.on(ENTRY, list(memory.values()))

    def run(self, inputs: Mapping[str, Floats]) -> dict[str, Floats]:
        """Run once on `inputs`, which stay unchanged, and return the outputs."""
        memory = tensor_memory(self.program, inputs)
        self.on(memory).run()
        return {tensor.name: memory[tensor.name] for tensor in self.program.outputs}

    @property
    def call(self) -> Call:
        """A call on random inputs, always in the same memory."""
        if self._call is None:
            self._call = self.on(tensor_memory(self.program, random_inputs(self.program)))
        return self._call


def nest_ir(tree: Tree) -> str:
    """Return the LLVM IR of a tree for this machine's processor."""
    return lower(tree, vector_lanes())


def compile_nest(tree: Tree) -> CompiledNest:
    """Compile a tree to machine code; equal nests are compiled once."""
    code = compile_ir(nest_ir(tree), level=None)
    is_threaded = any(loop.parallel and loop.size > 1 for _, loop in tree.loops())
    return CompiledNest(tree.program, code, is_threaded)


def tensor_memory(program: Program, inputs: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return an array for each tensor, in order, aligned to cache lines.

    Inputs are copied, the rest is nan; `InvalidParameterError` if a shape is wrong or missing.
    """
    memory: dict[str, Floats] = {}
    for name, tensor in program.tensors.items():
        memory[name] = _align(tensor.shape)
        if tensor.role != "input":
            memory[name].fill(np.nan)
            continue
        values: Any = inputs.get(name)
        if values is None or np.shape(values) != tensor.shape:
            got = "nothing" if values is None else f"an array of shape {np.shape(values)}"
            raise InvalidParameterError(
                f"{name} must be an array of shape {tensor.shape} (got {got})"
            )
        memory[name][...] = values
    return memory


def _align(shape: tuple[int, ...]) -> Floats:
    elements = int(np.prod(shape, dtype=np.int64))
    raw = np.empty(4 * elements + _ALIGNMENT, np.uint8)
    begin = -raw.ctypes.data % _ALIGNMENT
    return raw[begin : begin + 4 * elements].view(np.float32).reshape(shape)
