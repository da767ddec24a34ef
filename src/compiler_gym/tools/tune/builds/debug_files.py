# SPDX-License-Identifier: MIT
"""Debug information of a binary, in a file beside it that debuggers find by its name.

The binary that is handed over stays stripped. Its section ``.gnu_debuglink`` names the other
file and that one's checksum, as distributions do it.
"""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from compiler_gym.builds import CompilerCommand
from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune.builds.binaries import Binary, Unit

__all__ = ["debug_name", "split_commands", "with_debug", "with_own_debug"]

_TOOL = "objcopy"


def with_debug(binary: Binary) -> Binary:
    """Return `binary` as one whose sources are compiled with ``-g``, and whose link keeps it.

    The information names files from the root of the tree, so that it is the same anywhere.
    """
    words = ("-g", f"-fdebug-prefix-map={binary.root}=.")
    return _with(binary, lambda command: words)


def with_own_debug(binary: Binary) -> Binary:
    """Return `binary` with as much debug information as its own build keeps: maybe none."""
    return binary if "-s" in binary.command.link_flags else _with(binary, _list_debug_flags)


def _with(binary: Binary, words: Callable[[CompilerCommand], tuple[str, ...]]) -> Binary:
    def add_debug(unit: Unit) -> Unit:
        return replace(unit, command=replace(unit.command, debug=words(unit.command)))

    inputs = tuple(
        replace(input, units=tuple(map(add_debug, input.units))) for input in binary.inputs
    )
    found = replace(binary, inputs=inputs)
    link = next((unit.command.debug for unit in found.units if unit.command.debug), ())
    return replace(found, command=replace(binary.command, debug=link))


def _list_debug_flags(command: CompilerCommand) -> tuple[str, ...]:
    words = tuple(word for word in command.words if word.startswith("-g"))
    return () if words[-1:] in ((), ("-g0",)) else words


def debug_name(name: str) -> str:
    """Return the name of the file of debug information for the linked file `name`.

    >>> debug_name("src/tool")
    'src/tool.debug'
    """
    return f"{name}.debug"


def split_commands(built: Path, target: Path) -> list[Sequence[str]]:
    """Return what makes `target`, stripped, and its debug information, out of `built`.

    Raises `ProjectError` without a tool.
    """
    if shutil.which(_TOOL) is None:
        raise ProjectError(f"expected {_TOOL} to keep debug information: `apt install binutils`")
    debug = debug_name(str(target))
    return [
        [_TOOL, "--only-keep-debug", str(built), debug],
        [_TOOL, "--strip-all", f"--add-gnu-debuglink={debug}", str(built), str(target)],
    ]
