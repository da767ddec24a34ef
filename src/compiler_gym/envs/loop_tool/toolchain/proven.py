# SPDX-License-Identifier: MIT
"""What is known of a program: numpy's answer to random inputs, and the nests that gave it.

Kept of the last few programs of this process, so that the next episode compiles and checks no
nest twice. Nothing is run here.
"""

from collections import OrderedDict
from collections.abc import Hashable, Mapping
from functools import cached_property
from threading import Lock
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from compiler_gym.envs.loop_tool.state.program import Program
from compiler_gym.envs.loop_tool.state.reference import random_inputs, reference_outputs
from compiler_gym.envs.loop_tool.state.tree import Node, Tree
from compiler_gym.envs.loop_tool.toolchain.code.carded import CardedNest
from compiler_gym.envs.loop_tool.toolchain.code.compiled import CompiledNest

__all__ = ["Arrays", "Nest", "Proven", "proven"]

Nest: TypeAlias = CompiledNest | CardedNest
Arrays: TypeAlias = Mapping[str, NDArray[np.float32]]

_PROGRAMS = 8
"""Number of programs that are kept."""
_MOST_BYTES = 2**24
"""How large the inputs and outputs of one may be: 16 MiB, the answer takes twice that."""
_NESTS = 64
"""How many nests of each."""


class Proven:
    """numpy's answer for one program, and the nests that were found to give it."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._nests: OrderedDict[tuple[Node, ...], Nest] = OrderedDict()
        self._lock = Lock()

    @cached_property
    def inputs(self) -> Arrays:
        """Random inputs, always the same."""
        return random_inputs(self.program)

    @cached_property
    def expected(self) -> Mapping[str, NDArray[np.float64]]:
        """What numpy makes of them."""
        return reference_outputs(self.program, self.inputs)

    def get(self, tree: Tree) -> Nest | None:
        """Return the nest of a tree, if it was found right and is among the last."""
        with self._lock:
            nest = self._nests.get(tree.roots)
            if nest is not None:
                self._nests.move_to_end(tree.roots)
            return nest

    def add(self, tree: Tree, nest: Nest) -> None:
        """Keep the nest of a tree, which was found right."""
        with self._lock:
            self._nests[tree.roots] = nest
            if len(self._nests) > _NESTS:
                self._nests.popitem(last=False)


_kept: OrderedDict[Hashable, Proven] = OrderedDict()
_kept_lock = Lock()


def proven(program: Program) -> Proven:
    """Return what is known of a program; little of it is known at first, and of large ones."""
    if program.bytes > _MOST_BYTES:
        return Proven(program)
    # Whatever two programs were read from, these make them the same.
    key = (
        program.target,
        tuple(program.dims.items()),
        tuple(program.tensors.items()),
        program.statements,
    )
    with _kept_lock:
        found = _kept.setdefault(key, Proven(program))
        _kept.move_to_end(key)
        if len(_kept) > _PROGRAMS:
            _kept.popitem(last=False)
        return found
