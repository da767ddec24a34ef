# SPDX-License-Identifier: MIT
"""Programs from source: run clang and keep the bitcode it would have optimised.

Sources are compiled as for ``-O2``, without debug information and without every pass that
clang may leave out: the passes are the agent's to choose. What no level leaves out is done,
so that a program starts as they all do: functions that must be inlined are. No compiler is
needed for bitcode and IR files, which are read as they are.
"""

import hashlib
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from compiler_gym.builds import IR_SUFFIXES, SOURCE_LANGUAGES, is_bitcode
from compiler_gym.datasets import Benchmark, BenchmarkSource, RunSpec
from compiler_gym.envs.llvm.toolchain.clang import clang_command
from compiler_gym.envs.llvm.toolchain.engine import run_engine
from compiler_gym.errors import (
    BenchmarkInitError,
    BenchmarkTimeoutError,
    BenchmarkTypeError,
    CompilerGymWarning,
    program_unreadable,
    warn_of_the_caller,
)
from compiler_gym.files import read_regular, scratch_directory
from compiler_gym.sandbox import run_tool_boxed

__all__ = [
    "EMIT_FLAGS",
    "NO_SYSTEM_INCLUDES",
    "ClangInvocation",
    "get_system_library_flags",
    "make_benchmark",
    "make_benchmark_from_source",
    "read_program",
]

_EMIT = ("-c", "-emit-llvm", "-O2", "-g0", "-fno-ident", "-w")
EMIT_FLAGS = (*_EMIT, "-Xclang", "-disable-llvm-passes")
"""What turns a compiler into a front end: unoptimised IR that may be optimised."""

_QUIET = ("-mllvm", "-opt-bisect-verbose=0")
_START_FLAGS = (*_EMIT, "-mllvm", "-opt-bisect-limit=0", *_QUIET)
"""The same, but what clang does at every level is done: the bisection skips all other passes.

Where there is nothing to do, the bytes are those of `EMIT_FLAGS`.
"""
_INSTRUMENTED = ("-fsanitize", "--coverage", "-coverage", "-fprofile", "-ftest-coverage", "-fcs-")
"""What adds passes of its own to every level: they belong at the end, not at the start."""

_CLANG_WROTE_IT = b"wchar_size"
_FOR_PASSES = (b"llvm.lifetime.", b"omnipotent char")
"""What clang writes for passes only at ``-O1`` and higher: lifetime markers, and TBAA's root."""

NO_SYSTEM_INCLUDES = ("-nostdlibinc",)
"""Leaves clang its own headers, such as ``stddef.h``, and none of the system's libraries."""

CXX_LIBRARIES = ("-lstdc++", "-lm")
"""What a C++ compiler adds when it links."""


@dataclass(frozen=True, slots=True)
class ClangInvocation:
    """One run of clang, without what we add to it.

    `args` are clang's arguments: the sources and the flags they need.
    """

    args: Sequence[str]
    system_includes: bool = True
    """True if clang looks where the system keeps its headers; clang's own are always there."""
    timeout: float = 600
    """Seconds."""
    cwd: Path | None = None
    """Where clang runs; None is the current directory."""
    sources: tuple[Path, ...] = field(default=())
    """The files that are the program's sources."""
    driver: str | None = None
    """The clang to run; None is the one that `clang_command` finds."""
    is_own: bool = True
    """True if the sources are the user's: others are compiled in a sandbox."""

    @classmethod
    def from_c_file(
        cls,
        path: str | Path,
        copt: Iterable[str] | None = None,
        system_includes: bool = True,
        timeout: float = 600,
    ) -> "ClangInvocation":
        """Return the invocation for one source file.

        clang runs in the file's directory, so that the bitcode does not depend
        on where that is.
        """
        file = Path(path).expanduser().absolute()
        return cls((*(copt or ()), file.name), system_includes, timeout, file.parent, (file,))

    def command(self, outpath: str | Path) -> list[str]:
        """Return the command that writes bitcode to `outpath`."""
        compiler = clang_command() if self.driver is None else [self.driver]
        is_instrumented = any(word.startswith(_INSTRUMENTED) for word in self.args)
        emit = EMIT_FLAGS if is_instrumented else _START_FLAGS
        places = () if self.system_includes else NO_SYSTEM_INCLUDES
        return [*compiler, *places, *self.args, *emit, "-o", str(outpath)]

    def run(self, input: bytes | None = None) -> bytes:
        """Return the bitcode; raise `BenchmarkInitError` with clang's own words."""
        with scratch_directory("source") as directory:
            out = Path(directory) / "out.bc"
            command = self.command(out)
            done = self._execute(command, input, Path(directory))
            if done.returncode and b"-opt-bisect-verbose" in done.stderr:  # clang before 17
                at = command.index(_QUIET[1])
                del command[at - 1 : at + 1]
                done = self._execute(command, input, Path(directory))
            if done.returncode or not out.is_file():
                words = done.stderr.decode(errors="replace").strip()
                named = [word for word in self.args if word[:1] != "-" and "." in word]
                raise BenchmarkInitError(
                    f"clang cannot compile {' '.join(named) or 'the program'}:\n{words}"
                )
            return out.read_bytes()

    def _execute(
        self, command: Sequence[str], input: bytes | None, folder: Path
    ) -> "subprocess.CompletedProcess[bytes]":
        try:
            found = shutil.which(command[0])
            if not self.is_own and found and found != sys.executable:
                return run_tool_boxed(
                    [found, *command[1:]],
                    folder=folder,
                    seconds=self.timeout,
                    input=input or b"",
                    cwd=self.cwd,
                    visible=_folders_in(self.args),
                )
            return subprocess.run(
                command,
                input=input,
                stdin=subprocess.DEVNULL if input is None else None,
                capture_output=True,
                timeout=self.timeout,
                cwd=self.cwd,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            raise BenchmarkTimeoutError(
                f"clang did not finish within {self.timeout:g} s: {' '.join(self.args)}"
            ) from late
        except OSError as error:
            raise BenchmarkInitError(f"cannot run clang: {error}") from error


def _folders_in(args: Sequence[str]) -> list[str]:
    """Return the folders that clang is told to look for headers in."""
    words = [word.removeprefix("-I") for word in args]
    return [word for word in words if os.path.isabs(word) and os.path.isdir(word)]


def read_program(
    path: Path,
    copt: Iterable[str] | None = None,
    system_includes: bool = True,
    *,
    timeout: float = 600,
) -> bytes:
    """Return the module in the file `path`: IR as it is, source through clang."""
    _require_file(path)
    suffix = path.suffix
    if suffix in SOURCE_LANGUAGES:
        _need(path)
        return ClangInvocation.from_c_file(path, copt, system_includes, timeout).run()
    if suffix in IR_SUFFIXES or _looks_like_ir(path):
        contents = _need(path)
        _warn_of_poor_ir(path, contents)
        return contents
    known = ", ".join((*IR_SUFFIXES, *SOURCE_LANGUAGES))
    raise BenchmarkInitError(f"cannot tell what {path} is: expected a name ending in {known}")


def make_benchmark(
    inputs: "str | Path | ClangInvocation | list[str | Path | ClangInvocation]",
    copt: Iterable[str] | None = None,
    system_includes: bool = True,
    timeout: float = 600,
    *,
    run: RunSpec | None = None,
) -> Benchmark:
    """Return a program made of files: C, C++, IR or bitcode, linked if several.

    `copt` are extra arguments for clang. Without `system_includes` no header of the system is
    found, only those of `copt` and clang's own. `run` says how to run the program, and if it
    does not say what to link, the libraries of its language are. Raises `BenchmarkInitError`
    when a file is missing or does not compile, a `BenchmarkNotFoundError` or a
    `BenchmarkTimeoutError` where it is one, and `BenchmarkTypeError` for inputs of another kind.
    """
    items = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    if not items:
        raise BenchmarkInitError("expected at least one file, found none")
    modules: list[bytes] = []
    sources: list[BenchmarkSource] = []
    for item in items:
        if isinstance(item, ClangInvocation):
            modules.append(item.run())
            paths = item.sources
        elif isinstance(item, (str, Path)):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
            path = Path(item).expanduser()
            modules.append(read_program(path, copt, system_includes, timeout=timeout))
            paths = () if path.suffix in IR_SUFFIXES else (path,)
        else:
            raise BenchmarkTypeError(
                f"expected a path or a ClangInvocation, found {type(item).__name__}: {item!r}"
            )
        sources += [BenchmarkSource(path.name, _need(path)) for path in paths]
    is_cxx = any("++" in SOURCE_LANGUAGES.get(Path(s.filename).suffix, "") for s in sources)
    contents = modules[0] if len(modules) == 1 else run_engine("link", modules, timeout=timeout)[0]
    return user_benchmark(contents, sources, with_libraries(run, is_cxx))


def make_benchmark_from_source(
    source: str | bytes,
    copt: Iterable[str] | None = None,
    lang: str = "c++",
    system_includes: bool = True,
    timeout: float = 600,
    *,
    run: RunSpec | None = None,
) -> Benchmark:
    """Return a program from source text in the language `lang`, clang's ``-x``.

    `system_includes` and `run` are those of `make_benchmark`.
    """
    text = source.encode("utf-8", "surrogateescape") if isinstance(source, str) else source
    args = (*(copt or ()), "-x", lang, "-")
    contents = ClangInvocation(args, system_includes, timeout).run(text)
    extension = next((s for s, known in SOURCE_LANGUAGES.items() if known == lang), f".{lang}")
    named = BenchmarkSource(f"source{extension}", text)
    return user_benchmark(contents, [named], with_libraries(run, "++" in lang))


def with_libraries(run: RunSpec | None, is_cxx: bool) -> RunSpec | None:
    """Return `run` with the standard libraries of the language, unless it names some."""
    if run is None or run.link:
        return run
    return replace(run, link=CXX_LIBRARIES if is_cxx else ("-lm",))


def user_benchmark(
    contents: bytes, sources: Iterable[BenchmarkSource], run: RunSpec | None = None
) -> Benchmark:
    """Return a benchmark named after what it holds, so that equal programs share a name."""
    digest = hashlib.sha256(contents).hexdigest()[:16]
    benchmark = Benchmark.from_file_contents(f"benchmark://user-v0/{digest}", contents, run=run)
    for source in sources:
        benchmark.add_source(source)
    return benchmark


def get_system_library_flags(compiler: str | None = None) -> list[str]:
    """Return the ``-isystem`` flags with which `compiler` finds its system headers."""
    command = [compiler] if compiler else clang_command()
    try:
        done = subprocess.run(
            [*command, "-xc++", "-E", "-v", "-"], input=b"", capture_output=True, check=False
        )
    except OSError as error:
        raise BenchmarkInitError(f"cannot run {command[0]}: {error.strerror}") from error
    lines = done.stderr.decode(errors="replace").splitlines()
    try:
        start = next(i for i, line in enumerate(lines) if line.startswith("#include <...>"))
        end = lines.index("End of search list.", start)
    except (StopIteration, ValueError):
        raise BenchmarkInitError(f"{command[0]} does not say where its headers are") from None
    return [word for line in lines[start + 1 : end] for word in ("-isystem", line.strip())]


def _require_file(path: Path) -> None:
    try:
        kind = path.stat().st_mode
    except OSError:
        return  # Reading it says why.
    except ValueError as error:
        raise BenchmarkInitError(f"cannot read {str(path)!r}: {error}") from error
    if stat.S_ISDIR(kind):
        raise BenchmarkInitError(f"expected a program file, found a directory: {path}")
    if not stat.S_ISREG(kind):
        raise BenchmarkInitError(f"expected a program file, found a pipe or a device: {path}")


def _need(path: Path) -> bytes:
    try:
        return read_regular(path)
    except OSError as error:
        raise program_unreadable(path, error) from error


def _warn_of_poor_ir(path: Path, contents: bytes) -> None:
    """Warn of IR that clang wrote for ``-O0``: passes, and the baselines, do less with it."""
    if _CLANG_WROTE_IT in contents and not any(mark in contents for mark in _FOR_PASSES):
        warn_of_the_caller(
            f"{path} has neither TBAA nor lifetime markers, which clang leaves out at -O0, so "
            "passes can optimise it less; compile it with "
            "-Oz -Xclang -disable-llvm-passes -emit-llvm -c instead",
            CompilerGymWarning,
        )


def _looks_like_ir(path: Path) -> bool:
    return is_bitcode(_need(path))
