# SPDX-License-Identifier: MIT
"""Reads a ``compile_commands.json``: how each source of a project is compiled."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from compiler_gym.builds.command_line import CompilerCommand
from compiler_gym.errors import BenchmarkInitError, program_unreadable
from compiler_gym.files import read_regular

__all__ = ["read_database"]

_TARGET = re.compile(r"(?:^|/)CMakeFiles/([^/]+)\.dir/")


def read_database(
    path: Path, failed: list[tuple[str, str]] | None = None
) -> Iterator[tuple[str, str, CompilerCommand]]:
    """Yield the name, the target and the command of each entry.

    CMake's objects tell their target (``CMakeFiles/NAME.dir``); all others are of ``all``.
    Raises `BenchmarkInitError` for what is no compilation database. An entry whose command
    cannot be read raises it, too, or goes into `failed` with the reason.
    """
    for entry in _entries_of(path):
        try:
            cwd = path.parent / entry.get("directory", ".")
            words = entry.get("arguments")
            name = str(entry["file"])
            text = "" if words is not None else str(entry["command"])
        except (KeyError, TypeError, AttributeError) as error:
            raise BenchmarkInitError(f"{path} is no compilation database: {error!r}") from error
        try:
            command = (
                CompilerCommand.from_text(text, cwd)
                if words is None
                else CompilerCommand.parse([str(word) for word in words], cwd)
            )
        except BenchmarkInitError as error:
            if failed is None:
                raise BenchmarkInitError(f"{path}: {name}: {error}") from error
            failed.append((name, str(error)))
            continue
        made = str(entry.get("output") or command.output or "")
        target = _TARGET.search(made.replace(os.sep, "/"))
        yield name, target[1] if target else "all", command


def _entries_of(path: Path) -> list[Any]:
    try:
        found: Any = json.loads(read_regular(path))
    except OSError as error:
        raise program_unreadable(path, error) from error
    except (ValueError, RecursionError) as error:
        raise BenchmarkInitError(f"{path} is no compilation database: {error!r}") from error
    if not isinstance(found, list):
        kind = type(found).__name__
        raise BenchmarkInitError(f"{path} is no compilation database: expected a list, not {kind}")
    return cast("list[Any]", found)
