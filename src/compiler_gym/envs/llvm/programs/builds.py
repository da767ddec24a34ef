# SPDX-License-Identifier: MIT
"""Programs of one's own from the commands that build them.

Either the command is only read (`make_benchmark_from_command_line`), or a build is watched
(`record`): then the real compiler has run already, and what it compiled is kept as bitcode.
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
    """The program that a compiler command builds, and how to finish that command.

    After ``env.reset(benchmark=program)`` and some steps, ``program.compile(env)`` makes what
    the command would have made, of the optimised program.
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
        """Seconds that reading the sources might have taken."""
        self._command = invocation
        self._linked = tuple(linked)

    @property
    def output(self) -> Path:
        """The file that the command makes."""
        sources = self._command.sources
        return self._command.find_output(sources[0] if sources else Source("a"))

    def compile(self, env: Any, timeout: float = 60) -> None:
        """Make the output of the command from the program in `env`, as it is now.

        No pass is run any more. Raises `CompilerDiagnosticError` with clang's own
        words when it does not compile or link.
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
            done = subprocess.run(
                words, cwd=command.cwd, capture_output=True, timeout=timeout, check=False
            )
        except subprocess.TimeoutExpired:
            raise CompilerDiagnosticError(
                f"clang did not finish within {timeout:g} s: {self.command_line}"
            ) from None
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip()
            raise CompilerDiagnosticError(f"cannot finish {self.command_line}:\n{said}")


def make_benchmark_from_command_line(
    cmd: str | Sequence[str],
    *,
    cwd: str | Path | None = None,
    timeout: float = 600,
    run: RunSpec | None = None,
    replace_driver: bool = True,
    system_includes: bool = True,
) -> BenchmarkFromCommandLine:
    """Return the program that the command `cmd` of gcc or clang builds; run nothing of it.

    Its first word is the compiler, which is replaced by our clang and need not exist; without
    `replace_driver` it is a clang that is to read the sources. Several sources are linked, and so
    are objects whose modules are known: bitcode, and what `compile` or ``compiler-gym cc``
    made. Other objects and libraries stay for the linker. Without `system_includes` no header
    of the system is found, only those of the command and clang's own. `run` says how to run
    the program; the libraries of the command are added to it.
    """
    read = CompilerCommand.from_text if isinstance(cmd, str) else CompilerCommand.parse
    command = read(cmd, cwd)  # type: ignore[arg-type]  # one of the two
    if not system_includes:
        command = replace(command, flags=(*NO_SYSTEM_INCLUDES, *command.flags))
    return read_command(command, timeout, run, None if replace_driver else command.words[0])


def record(words: Sequence[str], cwd: Path, folder: Path) -> list[Path]:
    """Keep what the command `words`, which has just been run in `cwd`, compiled.

    Every source becomes a file of bitcode below ``folder/modules`` and every linked program
    whose objects are all known one below ``folder/programs``. A line of ``folder/index.jsonl``
    says where each comes from. Returns the files.
    """
    command = CompilerCommand.parse(words, cwd)
    if command.mode is Mode.NOTHING:
        return []
    made: list[Path] = []
    modules: list[bytes] = []
    problems = [f"{name} is assembly: expected C, C++ or IR" for name in command.assembly]
    for source in command.sources:
        try:
            module = _bitcode(command, source, 600)
        except BenchmarkInitError as error:
            problems.append(str(error))
            continue
        modules.append(module)
        made.append(_keep(folder, "modules", source.name, module, command))
        if command.mode is Mode.OBJECT:
            remember_object(command.find_output(source), module)
    if command.mode is Mode.PROGRAM and not problems:
        made += _record_program(command, modules, folder)
    if problems:
        raise BenchmarkInitError("\n".join(problems))
    return made


def _record_program(command: CompilerCommand, modules: list[bytes], folder: Path) -> list[Path]:
    """Keep the linked program of `modules` and the command's objects, if all are known."""
    parts, known = _collect_parts(command, modules, 600)
    unknown = set(command.objects) - set(known)
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
    """Return `modules` and those of the command's objects, and which objects are known.

    Of an archive come the members that are needed. An object that is all in what is returned
    is marked; objects of unknown origin may need others of an archive.
    """
    parts, known = list(modules), dict[str, bool]()
    archives: list[list[bytes]] = []
    is_whole = False
    for word in command.link_words:
        is_whole = _WHOLE.get(word, is_whole)
        if word not in command.objects:
            continue
        path = command.cwd / word
        found = find_modules(path)
        if found is not None and word not in known:
            known[word] = is_whole or not is_archive(path)
            if known[word]:
                parts += found
            else:
                archives.append(found)
    wanted = () if {"-shared", "-r"} & set(command.link_flags) else ("main",)
    return parts + select_members(parts, archives, wanted=wanted, timeout=timeout), known


def read_command(
    command: CompilerCommand,
    timeout: float,
    run: RunSpec | None = None,
    driver: str | None = None,
) -> BenchmarkFromCommandLine:
    """Return the program of `command`, whose sources `driver` or our clang reads."""
    text = shlex.join(command.words)
    if command.mode is Mode.NOTHING:
        raise BenchmarkInitError(f"the command makes no code: {text}")
    if command.mode is not Mode.PROGRAM:
        _require_one_source(command)
    modules = [_bitcode(command, source, timeout, driver) for source in command.sources]
    linked: list[str] = []
    if command.mode is Mode.PROGRAM:
        modules, known = _collect_parts(command, modules, timeout)
        linked = [name for name, is_all in known.items() if is_all]
    if not modules:
        raise BenchmarkInitError(
            f"no source and no object of known origin in: {text}: build the objects with "
            "`compiler-gym cc`, or name the sources"
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
        raise BenchmarkInitError(f"{command.assembly[0]} is assembly: expected C, C++ or IR")
    if count > 1 and command.output is not None:
        raise BenchmarkInitError(f"one output for {count} sources: {text}")
    if count > 1:
        raise BenchmarkInitError(
            f"expected one program, found a command that makes one of each of {count} sources: "
            f"{text}: give a command for each, or one that links them"
        )


def _libraries(command: CompilerCommand, linked: Sequence[str]) -> tuple[str, ...]:
    """Return what a linker elsewhere needs beside the program: its paths are absolute."""
    found: list[str] = []
    rest = iter(command.link_words)
    for word in rest:
        if word == "-x":
            next(rest)  # A language: the assembly that follows cannot be assembled elsewhere.
        elif word in ("-L", "-l"):
            value = next(rest)
            found.append(word + (_resolve_path(command, value) if word == "-L" else value))
        elif word.startswith("-L"):
            found.append(f"-L{_resolve_path(command, word[2:])}")
        elif word.startswith(("-l", "-Wl,")):
            found.append(word)
        elif word in command.objects and word not in (*linked, *command.assembly):
            found.append(_resolve_path(command, word))
    found += [flag for flag in command.flags if flag.startswith(_LINKED_TOO)]
    return (*found, *(CXX_LIBRARIES if command.is_cxx else ()))


def _resolve_path(command: CompilerCommand, name: str) -> str:
    return str(command.cwd / name)


def _source(command: CompilerCommand, source: Source) -> BenchmarkSource:
    name = os.path.relpath(command.cwd / source.name, command.cwd).replace("../", "")
    return BenchmarkSource(name, (command.cwd / source.name).read_bytes())


def make_invocation(
    command: CompilerCommand, source: Source, *, timeout: float = 600, driver: str | None = None
) -> ClangInvocation:
    """Return the run of clang, or of `driver`, that makes bitcode of `source`."""
    args = command.arguments(source)
    paths = (command.cwd / args[-1],)
    return ClangInvocation(args, timeout=timeout, cwd=command.cwd, sources=paths, driver=driver)


def _bitcode(
    command: CompilerCommand, source: Source, timeout: float, driver: str | None = None
) -> bytes:
    """Return the module of one source; flags that only gcc knows are left out."""
    if source.name == "-":
        raise BenchmarkInitError("the command reads standard input: expected a file")
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
    raise BenchmarkInitError(f"clang does not know the flags of {shlex.join(command.words)}")


def unknown_flags(said: str) -> set[str]:
    """Return the flags that clang says it does not know."""
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
