# SPDX-License-Identifier: MIT
"""Programs of one's own from a ``compile_commands.json``: one for each file or each target.

Nothing of the build is run; an entry that cannot be read does not hide the others.
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
    """Return one program for each file of a ``compile_commands.json``, by the file's name.

    What does not compile raises `BenchmarkInitError`, or goes into `unreadable` with the reason.
    """
    found: dict[str, Benchmark] = {}
    for name, _, command in read_database(Path(path), unreadable):
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
    for _, target, command in read_database(Path(path), unreadable):
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
