# SPDX-License-Identifier: MIT
"""LLVM's part of making datasets; the entry-point group ``compiler_gym.corpus_builders`` names it.

``packages`` compiles the sources of packages, and ``package_tests`` runs the tests that packages
have of their own.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.envs.llvm.programs import read_compilation_database, shapes_of
    from compiler_gym.tools.corpus.llvm.packages import unit_compiler

__all__ = ["read_compilation_database", "shapes_of", "unit_compiler"]

__getattr__ = door(__name__)
