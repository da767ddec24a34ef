# SPDX-License-Identifier: MIT
"""A box for programs that somebody else wrote, or that a broken compiler made.

``tiers`` says how strong a box is wanted, and what this machine offers; ``box`` runs one
command in one; ``groups`` bounds the memory and the processes of a whole box where the
kernel lets us; ``tools`` runs a compiler in one, which programs that are the user's ``own``
do without; ``ways`` knows the two commands that make a box, ours and bubblewrap.

What the box keeps from a program is decided by a small program of ours (``native/src/box``):
nothing is done in the process that asks. No program is judged here.
"""

from compiler_gym.sandbox.box import FOLDER, BoxReport, RunLimits, Workplace, run_boxed
from compiler_gym.sandbox.own import is_own
from compiler_gym.sandbox.tiers import (
    ENVIRONMENT_VARIABLE,
    Sandbox,
    asked_for,
    available,
    chosen,
    require,
    sandboxed,
    use,
    way,
    why_not,
)
from compiler_gym.sandbox.tools import run_tool_boxed

__all__ = [
    "ENVIRONMENT_VARIABLE",
    "FOLDER",
    "BoxReport",
    "RunLimits",
    "Sandbox",
    "Workplace",
    "asked_for",
    "available",
    "chosen",
    "is_own",
    "require",
    "run_boxed",
    "run_tool_boxed",
    "sandboxed",
    "use",
    "way",
    "why_not",
]
