# SPDX-License-Identifier: MIT
"""Generated inputs for one program: they increase its coverage and show nothing undefined.

``coverage`` measures the coverage of a run, ``soundness`` checks for undefined behaviour,
``corpus`` generates and caches the inputs, and ``check`` is the rung that runs them.
"""

from compiler_gym.envs.llvm.validation.generated.check import check_generated, has_inputs
from compiler_gym.envs.llvm.validation.generated.corpus import Corpus, Effort, make_corpus

__all__ = ["Corpus", "Effort", "check_generated", "has_inputs", "make_corpus"]
