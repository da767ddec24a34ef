# SPDX-License-Identifier: MIT
"""Programs of one's own from a ``compile_commands.json``: one for each file or each target.

Nothing of the build is run; an entry that cannot be read does not hide the others.
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from compiler_gym.builds import CompilerCommand
from compiler_gym.datasets import Benchmark
from compiler_gym.envs.llvm.programs.builds import read_command
from compiler_gym.envs.llvm.programs.source import user_benchmark
from compiler_gym.envs.llvm.toolchain.engine import run_engine
from compiler_gym.errors import BenchmarkInitError, program_unreadable
from compiler_gym.files import read_regular

__all__ = [
    "make_benchmarks_from_compile_commands",
    "make_benchmarks_from_compile_commands_by_target",
    "read_compilation_database",
]

_TARGET = re.compile(r"(?:^|/)CMakeFiles/([^/]+)\.dir/")


def make_benchmarks_from_compile_commands(
    path: str | Path,
    *,
    timeout: float = 600,
    unreadable: list[tuple[str, str]] | None = None,
) -> dict[str, Benchmark]:
    """Return one program for each file of a ``compile_commands.json``, by the file's name.

    What does not compile raises `BenchmarkInitError`, or goes into `unreadable` with the reason.
    """
    found: dict[str, Benchmark] = {}
    for name, _, command in _commands_of(Path(path), unreadable):
        try:
            key, number = name, 1
            while key in found:
                number += 1
                key = f"{name}#{number}"
            found[key] = read_command(command, timeout)
        except BenchmarkInitError as error:
            if unreadable is None:
                raise
            unreadable.append((name, str(error)))
    return found


def make_benchmarks_from_compile_commands_by_target(
    path: str | Path,
    *,
    timeout: float = 600,
    unreadable: list[tuple[str, str]] | None = None,
) -> dict[str, Benchmark]:
    """Return one program for each target of a ``compile_commands.json``: its files, linked.

    CMake's objects tell their target (``CMakeFiles/NAME.dir``); all other files are one target,
    called ``all``.
    """
    targets: dict[str, list[CompilerCommand]] = {}
    for _, target, command in _commands_of(Path(path), unreadable):
        targets.setdefault(target, []).append(command)
    found: dict[str, Benchmark] = {}
    for target, commands in targets.items():
        try:
            parts = [read_command(command, timeout) for command in commands]
            modules = [part.contents for part in parts]
            linked = run_engine("link", modules, timeout=timeout)[0]
            found[target] = user_benchmark(linked, [s for part in parts for s in part.sources])
        except BenchmarkInitError as error:
            if unreadable is None:
                raise
            unreadable.append((target, str(error)))
    return found


def read_compilation_database(
    path: Path, linked: bool
) -> tuple[dict[str, bytes], list[tuple[str, str]]]:
    """Return the bitcode of what `path` lists, by file or `linked` by target, and what failed."""
    unreadable: list[tuple[str, str]] = []
    read = (
        make_benchmarks_from_compile_commands_by_target
        if linked
        else make_benchmarks_from_compile_commands
    )
    found = read(path, unreadable=unreadable)
    return {name: program.contents for name, program in found.items()}, unreadable


def _commands_of(
    path: Path, failed: list[tuple[str, str]] | None
) -> Iterator[tuple[str, str, CompilerCommand]]:
    """Yield the name, the target and the command of each entry.

    An entry whose command cannot be read raises, or goes into `failed` with the reason.
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
                raise
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
    entries = cast("list[Any]", found)
    return entries
