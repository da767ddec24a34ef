# SPDX-License-Identifier: MIT
"""The user's own programs from a ``compile_commands.json``: one for each file or each target.

The build itself is not run; an unreadable entry does not affect the others.
"""

from pathlib import Path

from compiler_gym.builds import CompilerCommand, read_database
from compiler_gym.datasets import Benchmark
from compiler_gym.envs.llvm.programs.builds import read_command
from compiler_gym.envs.llvm.programs.source import user_benchmark
from compiler_gym.envs.llvm.toolchain.engine import run_engine
from compiler_gym.errors import BenchmarkInitError

__all__ = [
    "make_benchmarks_from_compile_commands",
    "make_benchmarks_from_compile_commands_by_target",
    "read_compilation_database",
]


def make_benchmarks_from_compile_commands(
    path: str | Path,
    *,
    timeout: float = 600,
    unreadable: list[tuple[str, str]] | None = None,
) -> dict[str, Benchmark]:
    """Return one program for each file of a ``compile_commands.json``, by file name.

    A file that does not compile raises `BenchmarkInitError`; if `unreadable` is given, its name
    and the reason are appended there instead.
    """
    programs: dict[str, Benchmark] = {}
    for name, _, command in read_database(Path(path), unreadable):
        try:
            key, number = name, 1
            while key in programs:
                number += 1
                key = f"{name}#{number}"
            programs[key] = read_command(command, timeout)
        except BenchmarkInitError as error:
            if unreadable is None:
                raise
            unreadable.append((name, str(error)))
    return programs


def make_benchmarks_from_compile_commands_by_target(
    path: str | Path,
    *,
    timeout: float = 600,
    unreadable: list[tuple[str, str]] | None = None,
) -> dict[str, Benchmark]:
    """Return one program, linked from its files, for each target of a ``compile_commands.json``.

    The target is taken from CMake's object paths (``CMakeFiles/NAME.dir``); all other files belong
    to one target, ``all``.
    """
    targets: dict[str, list[CompilerCommand]] = {}
    for _, target, command in read_database(Path(path), unreadable):
        targets.setdefault(target, []).append(command)
    programs: dict[str, Benchmark] = {}
    for target, commands in targets.items():
        try:
            parts = [read_command(command, timeout) for command in commands]
            modules = [part.contents for part in parts]
            linked = run_engine("link", modules, timeout=timeout)[0]
            programs[target] = user_benchmark(linked, [s for part in parts for s in part.sources])
        except BenchmarkInitError as error:
            if unreadable is None:
                raise
            unreadable.append((target, str(error)))
    return programs


def read_compilation_database(
    path: Path, linked: bool
) -> tuple[dict[str, bytes], list[tuple[str, str]]]:
    """Return the bitcode of each file in `path`, or of each `linked` target, and the failures."""
    unreadable: list[tuple[str, str]] = []
    read = (
        make_benchmarks_from_compile_commands_by_target
        if linked
        else make_benchmarks_from_compile_commands
    )
    programs = read(path, unreadable=unreadable)
    return {name: program.contents for name, program in programs.items()}, unreadable
