# SPDX-License-Identifier: MIT
"""LLVM's dataset builder, registered in the entry-point group ``compiler_gym.corpus_builders``.

``packages`` compiles the sources of packages, and ``package_tests`` runs the packages' own tests.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.envs.llvm.programs import find_shapes, read_compilation_database
    from compiler_gym_corpus.llvm.packages import unit_compiler

__all__ = ["find_shapes", "read_compilation_database", "unit_compiler"]

__getattr__ = door(__name__)
