# SPDX-License-Identifier: MIT
"""Reads ``compile_commands.json``, the compile commands of a project."""

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

    CMake's objects have their target in their path (``CMakeFiles/NAME.dir``); all others belong
    to ``all``. Raises `BenchmarkInitError` if it is not a compilation database, or if an entry
    cannot be read; with `failed`, such an entry is added there with the reason instead.
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
        output = fields.get("output") or command.output or ""
        target = _TARGET.search(output.replace(os.sep, "/"))
        yield name, target[1] if target else "all", command


def _read_fields(entry: Any) -> dict[str, str]:
    """Return the text fields of an entry; raise `BenchmarkInitError` for an invalid entry."""
    if not isinstance(entry, dict):
        raise BenchmarkInitError(f"it must be an object (got {entry!r:.80})")
    fields = cast("dict[str, Any]", entry)
    words: Any = fields.get("arguments")
    for name in ("file",) if words is not None else ("file", "command"):
        if name not in fields:
            raise BenchmarkInitError(f"it has no {name!r}")
    for name in ("file", "command", "directory", "output"):
        value = fields.get(name, "")
        if not isinstance(value, str) or "\0" in value:
            raise BenchmarkInitError(f"{name!r} must be text (got {value!r:.80})")
    is_list = isinstance(words, list) and all(
        isinstance(word, str) and "\0" not in word for word in cast("list[Any]", words)
    )
    if words is not None and not (is_list and words):
        raise BenchmarkInitError(f"'arguments' must be a list of texts (got {words!r:.80})")
    return {name: value for name, value in fields.items() if isinstance(value, str)}


def _read_entries(path: Path) -> list[Any]:
    try:
        entries: Any = json.loads(read_regular(path))
    except OSError as error:
        raise program_unreadable(path, error) from error
    except (ValueError, RecursionError) as error:
        raise BenchmarkInitError(f"{path} is not a compilation database: {error!r}") from error
    if not isinstance(entries, list):
        kind = type(entries).__name__
        raise BenchmarkInitError(f"{path} is not a compilation database: {kind} instead of list")
    return cast("list[Any]", entries)
