# SPDX-License-Identifier: MIT
"""Rules as actions: formulas that take over decisions of a stock linker.

``llvm`` is the environment for LLVM's linker. ``search`` improves rules without a model, and
accepts any function that proposes one; ``commands`` contains the command that runs it.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym_inline.rules.search import Propose, Trial, search_rules

__all__ = ["Propose", "Trial", "search_rules"]

__getattr__ = door(__name__)
