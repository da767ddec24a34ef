# SPDX-License-Identifier: MIT
"""Programs from ``source``, from ``builds`` (commands, parsed or recorded), from a
``compilation_database`` and from ``collections``.

``objects`` and ``archive_members`` find the modules that a linker would select; ``kept`` caches
modules. Nothing here changes or runs a program.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.envs.llvm.programs.archive_members import select_members
    from compiler_gym.envs.llvm.programs.builds import record, unknown_flags
    from compiler_gym.envs.llvm.programs.compilation_database import read_compilation_database
    from compiler_gym.envs.llvm.programs.shapes import find_shapes
    from compiler_gym.envs.llvm.programs.source import skip_optional_passes

__all__ = [
    "find_shapes",
    "read_compilation_database",
    "record",
    "select_members",
    "skip_optional_passes",
    "unknown_flags",
]

__getattr__ = door(__name__)
