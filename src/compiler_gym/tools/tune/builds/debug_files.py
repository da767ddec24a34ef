# SPDX-License-Identifier: MIT
"""Debug information of a binary, in a separate file that debuggers find.

The binary itself stays stripped. As in distributions, its section ``.gnu_debuglink`` contains the
name and the checksum of the debug file.
"""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from compiler_gym.builds import CompilerCommand
from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune.builds.binaries import Binary, Unit

_TOOL = "objcopy"


def with_debug(binary: Binary) -> Binary:
    """Return `binary` with ``-g`` for all sources, and with debug information after the link.

    Paths in it are relative to the root of the tree, so that it does not depend on the folder.
    """
    flags = ("-g", f"-fdebug-prefix-map={binary.root}=.")
    return _with(binary, lambda command: flags)


def with_own_debug(binary: Binary) -> Binary:
    """Return `binary` with the debug information that the project's build keeps, if any."""
    return binary if "-s" in binary.command.link_flags else _with(binary, _list_debug_flags)


def _with(binary: Binary, flags: Callable[[CompilerCommand], tuple[str, ...]]) -> Binary:
    def add_debug(unit: Unit) -> Unit:
        return replace(unit, command=replace(unit.command, debug=flags(unit.command)))

    inputs = tuple(
        replace(input, units=tuple(map(add_debug, input.units))) for input in binary.inputs
    )
    changed = replace(binary, inputs=inputs)
    link = next((unit.command.debug for unit in changed.units if unit.command.debug), ())
    return replace(changed, command=replace(binary.command, debug=link))


def _list_debug_flags(command: CompilerCommand) -> tuple[str, ...]:
    flags = tuple(word for word in command.words if word.startswith("-g"))
    return () if flags[-1:] in ((), ("-g0",)) else flags


def debug_name(name: str) -> str:
    """Return the name of the debug file for the linked file `name`.

    >>> debug_name("src/tool")
    'src/tool.debug'
    """
    return f"{name}.debug"


def split_commands(built: Path, target: Path) -> list[Sequence[str]]:
    """Return the commands that split `built` into the stripped `target` and its debug file.

    Raises `ProjectError` if objcopy is not installed.
    """
    if shutil.which(_TOOL) is None:
        raise ProjectError(f"{_TOOL} not found: install it with `apt install binutils`")
    debug = debug_name(str(target))
    return [
        [_TOOL, "--only-keep-debug", str(built), debug],
        [_TOOL, "--strip-all", f"--add-gnu-debuglink={debug}", str(built), str(target)],
    ]
