# SPDX-License-Identifier: MIT
"""Record the build of a project, and work out which files each linked file is made of.

``shell`` reads the user's build command, ``recording`` runs it in a copy of the project's ``tree``
and records every command (``builds/watch`` stands in for the compilers), and ``configured`` handles
the output of CMake and Meson. ``binaries`` reads the commands that linked files and finds the
sources, ``relinking`` builds a file again with another compiler, ``link_map`` and ``debug_files``
describe its parts.
This package does not depend on any compiler.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.tools.tune.builds.binaries import (
        Binary,
        Input,
        Unit,
        find_binaries,
        list_inputs,
        list_linked_files,
        list_objects,
    )
    from compiler_gym.tools.tune.builds.configured import configuring
    from compiler_gym.tools.tune.builds.debug_files import (
        debug_name,
        split_commands,
        with_debug,
        with_own_debug,
    )
    from compiler_gym.tools.tune.builds.link_map import (
        LinkedFunction,
        bytes_by_file,
        map_beside,
        read_linked_functions,
    )
    from compiler_gym.tools.tune.builds.recording import (
        WATCH,
        Event,
        Recording,
        compiler_variable,
        record_build,
        rust_variables,
        stand_in,
    )
    from compiler_gym.tools.tune.builds.relinking import (
        Driver,
        Exchange,
        Step,
        exchange_files,
        name_objects,
        run_command,
    )
    from compiler_gym.tools.tune.builds.shell import build_asked, shell_comment, shell_text
    from compiler_gym.tools.tune.builds.tree import Protection, copy_tree, digest_files

__all__ = [
    "WATCH",
    "Binary",
    "Driver",
    "Event",
    "Exchange",
    "Input",
    "LinkedFunction",
    "Protection",
    "Recording",
    "Step",
    "Unit",
    "build_asked",
    "bytes_by_file",
    "compiler_variable",
    "configuring",
    "copy_tree",
    "debug_name",
    "digest_files",
    "exchange_files",
    "find_binaries",
    "list_inputs",
    "list_linked_files",
    "list_objects",
    "map_beside",
    "name_objects",
    "read_linked_functions",
    "record_build",
    "run_command",
    "rust_variables",
    "shell_comment",
    "shell_text",
    "split_commands",
    "stand_in",
    "with_debug",
    "with_own_debug",
]

__getattr__ = door(__name__)
