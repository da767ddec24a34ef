# SPDX-License-Identifier: MIT
"""What the build of somebody's project runs, and which file it makes of which.

``asked`` is the build that somebody means, ``command_line`` reads one command of a compiler,
``compilation_database`` a file of them, ``configured`` what CMake and Meson generated, ``archives``
what lies in an archive, ``elf`` how large a linked file is, ``debug_files`` where its debug
information lies, ``link_map`` what of it is where. ``recording`` runs a whole build in a copy of
its ``tree`` and writes down every command (``watch`` stands in for the compilers), ``binaries``
says what each linked file was made of, ``relinking`` how another compiler makes it again.
``sessions`` runs a command that nothing of outlives (``keeper``), and ``protecting`` keeps the
project itself from being written. No compiler is named here, and nothing of a project is changed in
its place.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.tools.tune.builds.archives import is_archive, is_bitcode, members_of
    from compiler_gym.tools.tune.builds.asked import build_asked
    from compiler_gym.tools.tune.builds.binaries import (
        Binary,
        Input,
        Unit,
        find_binaries,
        inputs_of,
        linked_files,
        objects_of,
    )
    from compiler_gym.tools.tune.builds.command_line import (
        IR_SUFFIXES,
        QUESTION_MARKS,
        SET_APART,
        SOURCE_LANGUAGES,
        CompilerCommand,
        Mode,
        Source,
        is_listed,
    )
    from compiler_gym.tools.tune.builds.compilation_database import read_database
    from compiler_gym.tools.tune.builds.compiled_driver import compiled_driver
    from compiler_gym.tools.tune.builds.configured import configuring
    from compiler_gym.tools.tune.builds.debug_files import (
        debug_name,
        split_commands,
        with_debug,
        with_own_debug,
    )
    from compiler_gym.tools.tune.builds.elf import (
        Sizes,
        bitcode_of,
        code_of,
        exported_symbols,
        function_sizes,
        is_shared_library,
        needed_symbols,
        sizes_of,
    )
    from compiler_gym.tools.tune.builds.link_map import (
        LinkedFunction,
        bytes_by_file,
        linked_functions,
        map_beside,
        symbols_beside,
    )
    from compiler_gym.tools.tune.builds.protecting import Protection
    from compiler_gym.tools.tune.builds.recording import (
        WATCH,
        Event,
        Recording,
        compiler_variable,
        record_build,
        stand_in,
    )
    from compiler_gym.tools.tune.builds.relinking import Driver, Place, run_command
    from compiler_gym.tools.tune.builds.sessions import (
        Printed,
        build_variables,
        in_own_session,
        run_in_own_session,
    )
    from compiler_gym.tools.tune.builds.shell import shell_comment, shell_text
    from compiler_gym.tools.tune.builds.tree import copy_tree, digests_of

__all__ = [
    "IR_SUFFIXES",
    "QUESTION_MARKS",
    "SET_APART",
    "SOURCE_LANGUAGES",
    "WATCH",
    "Binary",
    "CompilerCommand",
    "Driver",
    "Event",
    "Input",
    "LinkedFunction",
    "Mode",
    "Place",
    "Printed",
    "Protection",
    "Recording",
    "Sizes",
    "Source",
    "Unit",
    "bitcode_of",
    "build_asked",
    "build_variables",
    "bytes_by_file",
    "code_of",
    "compiled_driver",
    "compiler_variable",
    "configuring",
    "copy_tree",
    "debug_name",
    "digests_of",
    "exported_symbols",
    "find_binaries",
    "function_sizes",
    "in_own_session",
    "inputs_of",
    "is_archive",
    "is_bitcode",
    "is_listed",
    "is_shared_library",
    "linked_files",
    "linked_functions",
    "map_beside",
    "members_of",
    "needed_symbols",
    "objects_of",
    "read_database",
    "record_build",
    "run_command",
    "run_in_own_session",
    "shell_comment",
    "shell_text",
    "sizes_of",
    "split_commands",
    "stand_in",
    "symbols_beside",
    "with_debug",
    "with_own_debug",
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
    "compiled_driver": ("compiled_driver",),
    "archives": ("is_archive", "is_bitcode", "members_of"),
    "asked": ("build_asked",),
    "binaries": (
        "Binary",
        "Input",
        "Unit",
        "find_binaries",
        "inputs_of",
        "linked_files",
        "objects_of",
    ),
    "compilation_database": ("read_database",),
    "configured": ("configuring",),
    "debug_files": ("debug_name", "split_commands", "with_debug", "with_own_debug"),
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
    "link_map": (
        "LinkedFunction",
        "bytes_by_file",
        "linked_functions",
        "map_beside",
        "symbols_beside",
    ),
    "relinking": ("Driver", "Place", "run_command"),
    "recording": ("WATCH", "Event", "Recording", "compiler_variable", "record_build", "stand_in"),
    "sessions": ("Printed", "build_variables", "in_own_session", "run_in_own_session"),
    "shell": ("shell_comment", "shell_text"),
    "tree": ("copy_tree", "digests_of"),
    "protecting": ("Protection",),
}

__getattr__ = door(
    __name__, {name: f"{__name__}.{file}" for file, names in _WHERE.items() for name in names}
)
