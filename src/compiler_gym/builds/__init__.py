# SPDX-License-Identifier: MIT
"""Command lines of compilers, and the files that compilers read and write.

``command_line`` reads one command of a compiler, ``compilation_database`` a file of commands,
and ``elf`` lists the members of an archive and measures object files and linked files.
``watch`` is the script that stands in for a compiler in a build and records its commands.
These modules do not depend on a compiler.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.builds.command_line import (
        IR_SUFFIXES,
        RUST_OBJECT,
        SET_APART,
        SOURCE_LANGUAGES,
        Argument,
        CompilerCommand,
        Mode,
        Source,
        is_listed,
        iterate_arguments,
    )
    from compiler_gym.builds.compilation_database import is_file_name, read_database, split_command
    from compiler_gym.builds.elf import (
        EXECUTABLE,
        RELOCATABLE,
        SHARED,
        Sizes,
        find_bitcode,
        function_sizes,
        is_archive,
        is_bitcode,
        is_elf,
        is_shared_library,
        is_thin_archive,
        iterate_members,
        locate_members,
        measure_sizes,
        measure_unwinding,
        read_code,
        read_exported_symbols,
        read_interface,
        read_members,
        read_needed_symbols,
    )
    from compiler_gym.builds.watch import SCRIPT

__all__ = [
    "EXECUTABLE",
    "IR_SUFFIXES",
    "RELOCATABLE",
    "RUST_OBJECT",
    "SCRIPT",
    "SET_APART",
    "SHARED",
    "SOURCE_LANGUAGES",
    "Argument",
    "CompilerCommand",
    "Mode",
    "Sizes",
    "Source",
    "find_bitcode",
    "function_sizes",
    "is_archive",
    "is_bitcode",
    "is_elf",
    "is_file_name",
    "is_listed",
    "is_shared_library",
    "is_thin_archive",
    "iterate_arguments",
    "iterate_members",
    "locate_members",
    "measure_sizes",
    "measure_unwinding",
    "read_code",
    "read_database",
    "read_exported_symbols",
    "read_interface",
    "read_members",
    "read_needed_symbols",
    "split_command",
]

__getattr__ = door(__name__)
