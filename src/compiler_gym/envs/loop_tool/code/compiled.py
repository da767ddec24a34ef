# SPDX-License-Identifier: MIT
"""A loop tree that can be run on arrays, and timed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler_gym.envs.loop_tool.code.cpu import ENTRY, lower
from compiler_gym.envs.loop_tool.nests.program import Program
from compiler_gym.envs.loop_tool.nests.reference import random_inputs
from compiler_gym.envs.loop_tool.nests.tree import Tree
from compiler_gym.errors import InvalidParameterError
from compiler_gym.jit import Call, Compiled, Estimate, compile_ir, estimate_in_turns, vector_lanes

__all__ = ["CompiledNest", "compile_nest", "nest_ir", "tensor_memory", "time_nests"]

Floats = NDArray[np.float32]

_ALIGNMENT = 64


@dataclass(slots=True)
class CompiledNest:
    """A tree as machine code, with memory of its own to be timed on."""

    program: Program
    code: Compiled
    is_threaded: bool
    """Whether it has a loop that threads share."""
    _call: Call | None = field(default=None, repr=False)

    def run(self, inputs: Mapping[str, Floats]) -> dict[str, Floats]:
        """Return the outputs of one run on `inputs`, which are not changed."""
        memory = tensor_memory(self.program, inputs)
        self.code.on(ENTRY, list(memory.values())).run()
        return {tensor.name: memory[tensor.name] for tensor in self.program.outputs}

    @property
    def call(self) -> Call:
        """A call on random inputs, the same memory each time."""
        if self._call is None:
            memory = tensor_memory(self.program, random_inputs(self.program))
            self._call = self.code.on(ENTRY, list(memory.values()))
        return self._call


def nest_ir(tree: Tree) -> str:
    """Return the LLVM IR of a tree for this machine's processor."""
    return lower(tree, vector_lanes())


def compile_nest(tree: Tree) -> CompiledNest:
    """Return a tree as machine code. An equal nest is compiled once."""
    code = compile_ir(nest_ir(tree), level=None)
    is_threaded = any(loop.parallel and loop.size > 1 for _, loop in tree.loops())
    return CompiledNest(tree.program, code, is_threaded)


def time_nests(
    nests: Sequence[CompiledNest], *, seconds: float = 0.01, noise: float = 0.01
) -> list[Estimate]:
    """Return how long one run of each nest takes, from runs in turns.

    Each gets about `seconds`. Where one of them uses threads, wall time counts; else the
    processor time of one thread, held on one core.
    """
    threaded = any(nest.is_threaded for nest in nests)
    calls = [nest.call for nest in nests]
    return estimate_in_turns(calls, seconds=seconds, noise=noise, threaded=threaded)


def tensor_memory(program: Program, inputs: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return an array for each tensor, in their order, on borders of cache lines.

    Inputs are copied, all else is not a number; `InvalidParameterError` where one does not fit.
    """
    memory: dict[str, Floats] = {}
    for name, tensor in program.tensors.items():
        memory[name] = _aligned(tensor.shape)
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


def _aligned(shape: tuple[int, ...]) -> Floats:
    elements = int(np.prod(shape, dtype=np.int64))
    raw = np.empty(4 * elements + _ALIGNMENT, np.uint8)
    begin = -raw.ctypes.data % _ALIGNMENT
    return raw[begin : begin + 4 * elements].view(np.float32).reshape(shape)
