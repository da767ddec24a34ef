# SPDX-License-Identifier: MIT
"""LLVM's tools, versions and targets: everything that a change of LLVM's version touches.

``clang`` and ``engine`` are tools, ``build`` links, ``running`` measures, and ``executable`` is
all of it for one episode; ``target`` is the machine that code is made for, ``baselines`` keeps
what the compiler's own levels cost, ``plugins`` loads passes of others.
Nothing here knows where a program came from (``programs``) or judges it (``validation``).
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.envs.llvm.toolchain.clang import OLD_C, clang_command
    from compiler_gym.envs.llvm.toolchain.commands import (
        CLEAR,
        join_pipelines,
        split_passes,
        split_pipeline,
    )
    from compiler_gym.envs.llvm.toolchain.engine import run_engine
    from compiler_gym.envs.llvm.toolchain.external import require_build_tools
    from compiler_gym.envs.llvm.toolchain.tools import (
        MAJOR,
        find_tool,
        name_package,
        require_tool,
        tool_name,
    )

__all__ = [
    "CLEAR",
    "MAJOR",
    "OLD_C",
    "clang_command",
    "find_tool",
    "join_pipelines",
    "name_package",
    "require_build_tools",
    "require_tool",
    "run_engine",
    "split_passes",
    "split_pipeline",
    "tool_name",
]

__getattr__ = door(__name__)
