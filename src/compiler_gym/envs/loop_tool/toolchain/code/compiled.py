# SPDX-License-Identifier: MIT
"""A loop tree as machine code, that can be run on arrays."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler_gym.envs.loop_tool.jit import Call, Compiled, compile_ir, vector_lanes
from compiler_gym.envs.loop_tool.state.program import Program
from compiler_gym.envs.loop_tool.state.reference import random_inputs
from compiler_gym.envs.loop_tool.state.tree import Tree
from compiler_gym.envs.loop_tool.toolchain.code.cpu import ENTRY, lower
from compiler_gym.errors import InvalidParameterError

__all__ = ["CompiledNest", "compile_nest", "nest_ir", "tensor_memory"]

Floats = NDArray[np.float32]

_ALIGNMENT = 64


@dataclass(slots=True)
class CompiledNest:
    """A tree as machine code, with memory of its own to be timed on."""

    program: Program
    code: Compiled
    is_threaded: bool
    """True if it has a loop that threads share."""
    seconds: float = inf
    """What a run took when it was last timed."""
    _call: Call | None = field(default=None, repr=False)

    def on(self, memory: Mapping[str, Floats]) -> Call:
        """Return a call on an array for each tensor, in their order."""
        return self.code.on(ENTRY, list(memory.values()))

    def run(self, inputs: Mapping[str, Floats]) -> dict[str, Floats]:
        """Return the outputs of one run on `inputs`, which are not changed."""
        memory = tensor_memory(self.program, inputs)
        self.on(memory).run()
        return {tensor.name: memory[tensor.name] for tensor in self.program.outputs}

    @property
    def call(self) -> Call:
        """A call on random inputs, the same memory each time."""
        if self._call is None:
            self._call = self.on(tensor_memory(self.program, random_inputs(self.program)))
        return self._call


def nest_ir(tree: Tree) -> str:
    """Return the LLVM IR of a tree for this machine's processor."""
    return lower(tree, vector_lanes())


def compile_nest(tree: Tree) -> CompiledNest:
    """Return a tree as machine code. An equal nest is compiled once."""
    code = compile_ir(nest_ir(tree), level=None)
    is_threaded = any(loop.parallel and loop.size > 1 for _, loop in tree.loops())
    return CompiledNest(tree.program, code, is_threaded)


def tensor_memory(program: Program, inputs: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return an array for each tensor, in their order, on borders of cache lines.

    Inputs are copied, all else is not a number; `InvalidParameterError` where one does not fit.
    """
    memory: dict[str, Floats] = {}
    for name, tensor in program.tensors.items():
        memory[name] = _align(tensor.shape)
        if tensor.role != "input":
            memory[name].fill(np.nan)
            continue
        given: Any = inputs.get(name)
        if given is None or np.shape(given) != tensor.shape:
            found = "nothing" if given is None else f"an array of {np.shape(given)}"
            raise InvalidParameterError(
                f"{name}: expected an array of {tensor.shape}, found {found}"
            )
        memory[name][...] = given
    return memory


def _align(shape: tuple[int, ...]) -> Floats:
    elements = int(np.prod(shape, dtype=np.int64))
    raw = np.empty(4 * elements + _ALIGNMENT, np.uint8)
    begin = -raw.ctypes.data % _ALIGNMENT
    return raw[begin : begin + 4 * elements].view(np.float32).reshape(shape)
