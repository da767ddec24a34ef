# SPDX-License-Identifier: MIT
"""Tuning somebody's project, whatever compiles it.

``allowance`` is the time or the compilations that may be used, ``journal`` keeps what was
tried so that nothing is lost, ``plan`` is the decision as a file. A compiler's own part makes
the binaries; none is named here.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.tuning.allowance import Allowance
    from compiler_gym.tuning.journal import Journal, Tried
    from compiler_gym.tuning.plan import BinaryPlan, Plan, SourceFile, read_plan, write_plan

__all__ = [
    "Allowance",
    "BinaryPlan",
    "Journal",
    "Plan",
    "SourceFile",
    "Tried",
    "read_plan",
    "write_plan",
]

_WHERE = {
    "allowance": ("Allowance",),
    "journal": ("Journal", "Tried"),
    "plan": ("BinaryPlan", "Plan", "SourceFile", "read_plan", "write_plan"),
}

__getattr__ = door(
    __name__, {name: f"{__name__}.{file}" for file, names in _WHERE.items() for name in names}
)
