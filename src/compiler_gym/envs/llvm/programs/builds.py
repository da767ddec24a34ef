# SPDX-License-Identifier: MIT
"""The user's own programs, from the commands that build them.

A command is either only parsed (`make_benchmark_from_command_line`), or recorded during a build
(`record`): the real compiler has then run already, and the sources are stored as bitcode.
"""

import hashlib
import json
import os
import re
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from compiler_gym.builds import CompilerCommand, Mode, Source, is_archive, is_shared_library
from compiler_gym.datasets import Benchmark, BenchmarkSource, RunSpec
from compiler_gym.envs.llvm.programs.archive_members import select_members
from compiler_gym.envs.llvm.programs.objects import (
    find_modules,
    remember_object,
    remember_output,
)
from compiler_gym.envs.llvm.programs.source import (
    CXX_LIBRARIES,
    NO_SYSTEM_INCLUDES,
    ClangInvocation,
)
from compiler_gym.envs.llvm.toolchain.clang import clang_command
from compiler_gym.envs.llvm.toolchain.engine import run_engine
from compiler_gym.errors import (
    BenchmarkInitError,
    BenchmarkNotFoundError,
    CompilerDiagnosticError,
)
from compiler_gym.files import append, scratch_directory, write_whole

__all__ = [
    "BenchmarkFromCommandLine",
    "make_benchmark_from_command_line",
    "make_invocation",
    "read_command",
    "record",
    "unknown_flags",
]

_UNKNOWN = re.compile(r"(?:unknown argument:?|unsupported option|unsupported argument) '([^']+)'")
_LINK_ROUNDS = 4
_WHOLE = {"-Wl,--whole-archive": True, "-Wl,--no-whole-archive": False}
_LINKED_TOO = ("-pthread", "-fopenmp", "-fsanitize=", "--coverage", "-fprofile-")


class BenchmarkFromCommandLine(Benchmark):
    """The program that a compiler command builds; `compile` finishes the command.

    After ``env.reset(benchmark=program)`` and some steps, ``program.compile(env)`` writes the
    command's output file from the optimised program.
    """

    def __init__(
        self,
        invocation: CompilerCommand,
        bitcode: bytes,
        timeout: float = 600,
        *,
        linked: Sequence[str] = (),
        run: RunSpec | None = None,
        sources: Sequence[BenchmarkSource] = (),
    ) -> None:
        digest = hashlib.sha256(bitcode).hexdigest()[:16]
        super().__init__(f"benchmark://user-v0/{digest}", bitcode, sources=sources, run=run)
        self.command_line = shlex.join(invocation.words)
        """The command."""
        self.timeout = timeout
        """The time limit for compiling the sources, in seconds."""
        self._command = invocation
        self._linked = tuple(linked)

    @property
    def output(self) -> Path:
        """The command's output file."""
        sources = self._command.sources
        return self._command.find_output(sources[0] if sources else Source("a"))

    def compile(self, env: Any, timeout: float = 60) -> None:
        """Write the output of the command from the current program in `env`.

        No further passes run. Raises `CompilerDiagnosticError` with clang's diagnostics if it does
        not compile or link.
        """
        module = bytes(env.observation["Bitcode"].tobytes())
        with scratch_directory("build") as directory:
            path = Path(directory) / "program.bc"
            path.write_bytes(module)
            self._finish(path, timeout)
        if self._command.mode is Mode.OBJECT:
            remember_object(self.output, module)

    def _finish(self, module: Path, timeout: float) -> None:
        command = self._command
        level = "-O3" if command.level in ("-O", "-Ofast", "-Og") else command.level
        words = [*clang_command(), "-Qunused-arguments", "-w", *command.flags]
        words += [level, "-Xclang", "-disable-llvm-passes"]
        words += {Mode.OBJECT: ["-c"], Mode.ASSEMBLY: ["-S"]}.get(command.mode, [])
        words += ["-emit-llvm"] if command.emits_ir else []
        words += ["-x", "ir", str(module), "-x", "none"]
        if command.mode is Mode.PROGRAM:
            words += [word for word in command.link_words if word not in self._linked]
            words += CXX_LIBRARIES if command.is_cxx else []
        words += ["-o", str(self.output)]
        try:
            result = subprocess.run(
                words, cwd=command.cwd, capture_output=True, timeout=timeout, check=False
            )
        except subprocess.TimeoutExpired:
            raise CompilerDiagnosticError(
                f"clang did not finish within {timeout:g} s: {self.command_line}"
            ) from None
        if result.returncode:
            stderr = result.stderr.decode(errors="replace").strip()
            raise CompilerDiagnosticError(f"cannot finish {self.command_line}:\n{stderr}")


def make_benchmark_from_command_line(
    cmd: str | Sequence[str],
    *,
    cwd: str | Path | None = None,
    timeout: float = 600,
    run: RunSpec | None = None,
    replace_driver: bool = True,
    system_includes: bool = True,
) -> BenchmarkFromCommandLine:
    """Return the program that the gcc or clang command `cmd` builds, without running it.

    Its first argument is the compiler, which is replaced with the bundled clang and need not exist;
    without `replace_driver`, it must be a clang, which then compiles the sources. Several sources
    are linked together, as are objects whose modules are known: bitcode, and the output of
    `compile` or ``compiler-gym cc``. Other objects and libraries are left to the linker. Without
    `system_includes`, only the headers of the command and of clang are found. `run` describes how
    to run the program; the command's libraries are added to it.
    """
    read = CompilerCommand.from_text if isinstance(cmd, str) else CompilerCommand.parse
    command = read(cmd, cwd)  # type: ignore[arg-type]  # one of the two
    if not system_includes:
        command = replace(command, flags=(*NO_SYSTEM_INCLUDES, *command.flags))
    return read_command(command, timeout, run, None if replace_driver else command.words[0])


def record(words: Sequence[str], cwd: Path, folder: Path) -> list[Path]:
    """Store the modules that the command `words`, which has just been run in `cwd`, compiled.

    Every source becomes a bitcode file below ``folder/modules``, and every linked program whose
    objects are all known becomes one below ``folder/programs``. ``folder/index.jsonl`` records the
    origin of each. Returns the files.
    """
    command = CompilerCommand.parse(words, cwd)
    if command.mode is Mode.NOTHING:
        return []
    files: list[Path] = []
    modules: list[bytes] = []
    problems = [f"{name} is assembly; only C, C++ and IR are read" for name in command.assembly]
    for source in command.sources:
        try:
            module = _bitcode(command, source, 600)
        except BenchmarkInitError as error:
            problems.append(str(error))
            continue
        modules.append(module)
        files.append(_keep(folder, "modules", source.name, module, command))
        if command.mode is Mode.OBJECT:
            remember_object(command.find_output(source), module)
    if command.mode is Mode.PROGRAM and not problems:
        files += _record_program(command, modules, folder)
    if problems:
        raise BenchmarkInitError("\n".join(problems))
    return files


def _record_program(command: CompilerCommand, modules: list[bytes], folder: Path) -> list[Path]:
    """Store the program linked from `modules` and the command's objects, if all are known."""
    parts, origins = _collect_parts(command, modules, 600)
    unknown = set(command.objects) - set(origins)
    if not parts or not all(is_shared_library(command.cwd / name) for name in unknown):
        return []
    linked = parts[0] if len(parts) == 1 else run_engine("link", parts)[0]
    output = command.find_output(Source("a"))
    if "-r" in command.link_flags:
        remember_object(output, linked)
        return []
    return [_keep(folder, "programs", output.name, linked, command)]


def _collect_parts(
    command: CompilerCommand, modules: list[bytes], timeout: float
) -> tuple[list[bytes], dict[str, bool]]:
    """Return `modules` plus those of the command's objects, and the known objects.

    Archives contribute only the members that are needed. The value of a known object is True if
    all of its modules are returned; objects of unknown origin may need other archive members.
    """
    parts, origins = list(modules), dict[str, bool]()
    archives: list[list[bytes]] = []
    is_whole = False
    for word in command.link_words:
        is_whole = _WHOLE.get(word, is_whole)
        if word not in command.objects:
            continue
        path = command.cwd / word
        members = find_modules(path)
        if members is not None and word not in origins:
            origins[word] = is_whole or not is_archive(path)
            if origins[word]:
                parts += members
            else:
                archives.append(members)
    roots = () if {"-shared", "-r"} & set(command.link_flags) else ("main",)
    return parts + select_members(parts, archives, wanted=roots, timeout=timeout), origins


def read_command(
    command: CompilerCommand,
    timeout: float,
    run: RunSpec | None = None,
    driver: str | None = None,
) -> BenchmarkFromCommandLine:
    """Return the program of `command`, compiled with `driver` or the bundled clang."""
    text = shlex.join(command.words)
    if command.mode is Mode.NOTHING:
        raise BenchmarkInitError(f"the command does not compile or link anything: {text}")
    if command.mode is not Mode.PROGRAM:
        _require_one_source(command)
    modules = [_bitcode(command, source, timeout, driver) for source in command.sources]
    linked: list[str] = []
    if command.mode is Mode.PROGRAM:
        modules, origins = _collect_parts(command, modules, timeout)
        linked = [name for name, is_all in origins.items() if is_all]
    if not modules:
        raise BenchmarkInitError(
            f"the command has no sources and no objects of known origin: {text}; build the objects "
            "with `compiler-gym cc`, or name the sources"
        )
    contents = modules[0] if len(modules) == 1 else run_engine("link", modules, timeout=timeout)[0]
    if run is not None and not run.link:
        run = replace(run, link=_libraries(command, linked))
    sources = [_source(command, source) for source in command.sources]
    program = BenchmarkFromCommandLine(
        command, contents, timeout, linked=linked, run=run, sources=sources
    )
    if command.mode is Mode.OBJECT:
        remember_output(program.output, contents)
    return program


def _require_one_source(command: CompilerCommand) -> None:
    count, text = len(command.sources), shlex.join(command.words)
    if command.assembly and not count:
        raise BenchmarkInitError(f"{command.assembly[0]} is assembly; only C, C++ and IR are read")
    if count > 1 and command.output is not None:
        raise BenchmarkInitError(f"the command has one output for {count} sources: {text}")
    if count > 1:
        raise BenchmarkInitError(
            f"the command compiles {count} sources separately: {text}; "
            "pass one command for each source, or a command that links them"
        )


def _libraries(command: CompilerCommand, linked: Sequence[str]) -> tuple[str, ...]:
    """Return the further arguments for linking the program in any directory (absolute paths)."""
    arguments: list[str] = []
    words = iter(command.link_words)
    for word in words:
        if word == "-x":
            next(words)  # skips the language; assembly cannot be assembled elsewhere
        elif word in ("-L", "-l"):
            value = next(words)
            arguments.append(word + (_resolve_path(command, value) if word == "-L" else value))
        elif word.startswith("-L"):
            arguments.append(f"-L{_resolve_path(command, word[2:])}")
        elif word.startswith(("-l", "-Wl,")):
            arguments.append(word)
        elif word in command.objects and word not in (*linked, *command.assembly):
            arguments.append(_resolve_path(command, word))
    arguments += [flag for flag in command.flags if flag.startswith(_LINKED_TOO)]
    return (*arguments, *(CXX_LIBRARIES if command.is_cxx else ()))


def _resolve_path(command: CompilerCommand, name: str) -> str:
    return str(command.cwd / name)


def _source(command: CompilerCommand, source: Source) -> BenchmarkSource:
    name = os.path.relpath(command.cwd / source.name, command.cwd).replace("../", "")
    return BenchmarkSource(name, (command.cwd / source.name).read_bytes())


def make_invocation(
    command: CompilerCommand, source: Source, *, timeout: float = 600, driver: str | None = None
) -> ClangInvocation:
    """Return the run of clang, or of `driver`, that compiles `source` to bitcode."""
    args = command.arguments(source)
    paths = (command.cwd / args[-1],)
    return ClangInvocation(args, timeout=timeout, cwd=command.cwd, sources=paths, driver=driver)


def _bitcode(
    command: CompilerCommand, source: Source, timeout: float, driver: str | None = None
) -> bytes:
    """Return the module of one source, dropping flags that clang does not support."""
    if source.name == "-":
        raise BenchmarkInitError("the command reads standard input; name a source file instead")
    if not (command.cwd / source.name).is_file():
        raise BenchmarkNotFoundError(f"no such file: {command.cwd / source.name}")
    for _ in range(_LINK_ROUNDS):
        try:
            return make_invocation(command, source, timeout=timeout, driver=driver).run()
        except BenchmarkInitError as error:
            unknown = unknown_flags(str(error)) & set(command.flags)
            if not unknown:
                raise
            command = command.without_flags(unknown)
    raise BenchmarkInitError(f"clang does not accept the flags of {shlex.join(command.words)}")


def unknown_flags(said: str) -> set[str]:
    """Return the flags that clang reports as unknown or unsupported."""
    return set(_UNKNOWN.findall(said))


def _keep(folder: Path, kind: str, name: str, module: bytes, command: CompilerCommand) -> Path:
    digest = hashlib.sha256(module).hexdigest()
    plain = "/".join(part for part in Path(name).parts if part not in ("/", "..", "."))
    path = folder / kind / f"{plain}-{digest[:10]}.bc"
    if not path.is_file():
        write_whole(path, module)
    line = json.dumps(
        {
            "file": str(path.relative_to(folder)),
            "sha256": digest,
            "source": name,
            "output": command.output,
            "directory": str(command.cwd),
            "command": shlex.join(command.words),
        }
    )
    append(folder / "index.jsonl", line.encode("utf-8", "surrogateescape") + b"\n")
    return path
