# SPDX-License-Identifier: MIT
"""Inputs made for one program: those that reach what its own do not, and do nothing undefined.

``coverage`` tells what a run reaches, ``soundness`` whether it may be judged, ``corpus``
makes the inputs and keeps them, ``check`` is the rung that runs them.
"""

from compiler_gym.envs.llvm.validation.generated.check import check_generated, has_inputs
from compiler_gym.envs.llvm.validation.generated.corpus import Corpus, Effort, make_corpus

__all__ = ["Corpus", "Effort", "check_generated", "has_inputs", "make_corpus"]
