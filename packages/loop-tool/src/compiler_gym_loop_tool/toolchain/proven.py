# SPDX-License-Identifier: MIT
"""Cache of NumPy's results for a program on random inputs, and of nests that reproduce them.

It holds the last few programs of this process, so that the next episode compiles and checks no
nest twice. Nothing runs here.
"""

from collections import OrderedDict
from collections.abc import Hashable, Mapping
from functools import cached_property
from threading import Lock
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from compiler_gym_loop_tool.state.program import Program
from compiler_gym_loop_tool.state.reference import random_inputs, reference_outputs
from compiler_gym_loop_tool.state.tree import Node, Tree
from compiler_gym_loop_tool.toolchain.code.carded import CardedNest
from compiler_gym_loop_tool.toolchain.code.compiled import CompiledNest

__all__ = ["Arrays", "Nest", "Proven", "proven"]

Nest: TypeAlias = CompiledNest | CardedNest
Arrays: TypeAlias = Mapping[str, NDArray[np.float32]]

_PROGRAMS = 8
"""Number of cached programs."""
_MOST_BYTES = 2**24
"""Limit of a program's inputs and outputs, 16 MiB; its results take twice as much."""
_NESTS = 64
"""Number of cached nests per program."""


class Proven:
    """NumPy's results for one program, and the nests that reproduce them."""

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
        """NumPy's results for these inputs."""
        return reference_outputs(self.program, self.inputs)

    def get(self, tree: Tree) -> Nest | None:
        """Return the nest of a tree if it was checked and is still cached."""
        with self._lock:
            nest = self._nests.get(tree.roots)
            if nest is not None:
                self._nests.move_to_end(tree.roots)
            return nest

    def add(self, tree: Tree, nest: Nest) -> None:
        """Store the nest of a tree after its check."""
        with self._lock:
            self._nests[tree.roots] = nest
            if len(self._nests) > _NESTS:
                self._nests.popitem(last=False)


_caches: OrderedDict[Hashable, Proven] = OrderedDict()
_caches_lock = Lock()


def proven(program: Program) -> Proven:
    """Return the cache of a program, which starts empty; large programs are not cached."""
    if program.bytes > _MOST_BYTES:
        return Proven(program)
    # Programs with these values equal are the same, even if their texts differ.
    key = (
        program.target,
        tuple(program.dims.items()),
        tuple(program.tensors.items()),
        program.statements,
    )
    with _caches_lock:
        cached = _caches.setdefault(key, Proven(program))
        _caches.move_to_end(key)
        if len(_caches) > _PROGRAMS:
            _caches.popitem(last=False)
        return cached
