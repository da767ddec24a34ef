# SPDX-License-Identifier: MIT
"""Command lines of compilers, and the files that compilers read and write.

``command_line`` reads one command of a compiler, ``compilation_database`` a file of them,
``archives`` lists the members of an archive, ``elf`` measures object files and linked files. No
compiler is named here.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.builds.archives import is_archive, is_bitcode, members_of
    from compiler_gym.builds.command_line import (
        IR_SUFFIXES,
        QUESTION_MARKS,
        SET_APART,
        SOURCE_LANGUAGES,
        CompilerCommand,
        Mode,
        Source,
        is_listed,
    )
    from compiler_gym.builds.compilation_database import read_database
    from compiler_gym.builds.elf import (
        Sizes,
        bitcode_of,
        code_of,
        exported_symbols,
        function_sizes,
        is_shared_library,
        needed_symbols,
        sizes_of,
    )

__all__ = [
    "IR_SUFFIXES",
    "QUESTION_MARKS",
    "SET_APART",
    "SOURCE_LANGUAGES",
    "CompilerCommand",
    "Mode",
    "Sizes",
    "Source",
    "bitcode_of",
    "code_of",
    "exported_symbols",
    "function_sizes",
    "is_archive",
    "is_bitcode",
    "is_listed",
    "is_shared_library",
    "members_of",
    "needed_symbols",
    "read_database",
    "sizes_of",
]

_WHERE = {
    "command_line": (
        "IR_SUFFIXES",
        "QUESTION_MARKS",
        "SET_APART",
        "SOURCE_LANGUAGES",
        "CompilerCommand",
        "Mode",
        "Source",
        "is_listed",
    ),
    "archives": (
        "is_archive",
        "is_bitcode",
        "members_of",
    ),
    "compilation_database": ("read_database",),
    "elf": (
        "Sizes",
        "bitcode_of",
        "code_of",
        "exported_symbols",
        "function_sizes",
        "is_shared_library",
        "needed_symbols",
        "sizes_of",
    ),
}

__getattr__ = door(
    __name__, {name: f"{__name__}.{file}" for file, names in _WHERE.items() for name in names}
)
