# SPDX-License-Identifier: MIT
"""Tails: passes that follow ``clang -Oz``, chosen for each function by a model that learned.

After that pipeline inlining is done, so the choices for functions are independent, and one run of
a module labels all its functions. ``labels`` are the rows that a ``model`` learns from, and
``table`` stores them for people without a compiler. ``covering`` chooses tails that cover many
functions, ``judging`` compares ways to choose, and ``workers`` runs calls that may crash.
``llvm`` has all that knows the compiler.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.tools.learn.tails.judging import (
        Judged,
        JudgedWay,
        compare_ways,
        judge,
        save_first,
    )
    from compiler_gym.tools.learn.tails.labels import Labels
    from compiler_gym.tools.learn.tails.llvm.learning import TailRun
    from compiler_gym.tools.learn.tails.llvm.using import MODELS, Improved, improve
    from compiler_gym.tools.learn.tails.model import TailModel
    from compiler_gym.tools.learn.tails.options import TailGoal, TailOptions
    from compiler_gym.tools.learn.tails.table import VALIDATION, TailTable

__all__ = [
    "MODELS",
    "VALIDATION",
    "Improved",
    "Judged",
    "JudgedWay",
    "Labels",
    "TailGoal",
    "TailModel",
    "TailOptions",
    "TailRun",
    "TailTable",
    "compare_ways",
    "improve",
    "judge",
    "save_first",
]

__getattr__ = door(__name__)
