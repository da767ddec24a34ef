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
    for number, entry in enumerate(_read_entries(path), start=1):
        name = f"entry {number}"
        try:
            fields = _read_fields(entry)
            name, cwd = fields["file"], path.parent / fields.get("directory", ".")
            words = entry.get("arguments")
            command = (
                CompilerCommand.from_text(fields["command"], cwd)
                if words is None
                else CompilerCommand.parse(words, cwd)
            )
        except (BenchmarkInitError, ValueError) as error:
            if failed is None:
                raise BenchmarkInitError(f"{path}: {name}: {error}") from error
            failed.append((name, str(error)))
            continue
        made = fields.get("output") or command.output or ""
        target = _TARGET.search(made.replace(os.sep, "/"))
        yield name, target[1] if target else "all", command


def _read_fields(entry: Any) -> dict[str, str]:
    """Return the texts of an entry; raise `BenchmarkInitError` for one that is not an entry."""
    if not isinstance(entry, dict):
        raise BenchmarkInitError(f"it is {entry!r:.80}: expected an object")
    fields = cast("dict[str, Any]", entry)
    words: Any = fields.get("arguments")
    for name in ("file",) if words is not None else ("file", "command"):
        if name not in fields:
            raise BenchmarkInitError(f"it has no {name!r}: expected one")
    for name in ("file", "command", "directory", "output"):
        value = fields.get(name, "")
        if not isinstance(value, str) or "\0" in value:
            raise BenchmarkInitError(f"{name!r} is {value!r:.80}: expected a text")
    is_list = isinstance(words, list) and all(
        isinstance(word, str) and "\0" not in word for word in cast("list[Any]", words)
    )
    if words is not None and not (is_list and words):
        raise BenchmarkInitError(f"'arguments' is {words!r:.80}: expected a list of texts")
    return {name: value for name, value in fields.items() if isinstance(value, str)}


def _read_entries(path: Path) -> list[Any]:
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
