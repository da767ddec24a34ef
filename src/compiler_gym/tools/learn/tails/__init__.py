# SPDX-License-Identifier: MIT
"""Tails: passes that follow ``clang -Oz``, chosen for each function by a model that learned.

After that pipeline inlining is done, so the choices for functions are independent, and one run of
a module labels all its functions. ``labels`` is the table that a ``model`` learns from,
``covering`` chooses tails that cover many functions, and ``workers`` runs calls that may crash.
``llvm`` has all that knows the compiler.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.tools.learn.tails.labels import Labels
    from compiler_gym.tools.learn.tails.llvm.judging import Judged, JudgedWay, judge_run
    from compiler_gym.tools.learn.tails.llvm.learning import TailRun
    from compiler_gym.tools.learn.tails.llvm.using import MODEL, Improved, improve
    from compiler_gym.tools.learn.tails.model import TailModel
    from compiler_gym.tools.learn.tails.options import TailOptions

__all__ = [
    "MODEL",
    "Improved",
    "Judged",
    "JudgedWay",
    "Labels",
    "TailModel",
    "TailOptions",
    "TailRun",
    "improve",
    "judge_run",
]

__getattr__ = door(__name__)
