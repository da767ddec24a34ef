# SPDX-License-Identifier: MIT
"""LLVM's tools, versions and targets: everything that depends on the version of LLVM.

``clang`` and ``engine`` are tools, ``build`` links, ``running`` measures, and ``executable``
combines these for one episode. ``target`` is the machine that code is generated for, ``baselines``
caches the costs of the compiler's own levels, and ``plugins`` loads the user's own passes.
Nothing here depends on the origin of a program (``programs``) or checks it (``validation``).
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
