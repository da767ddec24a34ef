# SPDX-License-Identifier: MIT
"""Programs from source: run clang and keep the bitcode before optimisation.

Sources are compiled as for ``-O2``, but without debug information and optional passes, which the
agent chooses. Passes that every level runs, such as the inlining of always_inline functions, are
run, so that all levels start from this program. Bitcode and IR files are read unchanged, without
a compiler.
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
    "skip_optional_passes",
]

_EMIT = ("-c", "-emit-llvm", "-O2", "-g0", "-fno-ident", "-w")
_NO_PASSES = ("-Xclang", "-disable-llvm-passes")
EMIT_FLAGS = (*_EMIT, *_NO_PASSES)
"""The flags that make clang emit unoptimised IR that can still be optimised."""

_QUIET = ("-mllvm", "-opt-bisect-verbose=0")
_INSTRUMENTED = ("-fsanitize", "--coverage", "-coverage", "-fprofile", "-ftest-coverage", "-fcs-")
"""Flags that add instrumentation at every level; it must run after optimisation, not before."""

_CLANG_WROTE_IT = b"wchar_size"
_FOR_PASSES = (b"llvm.lifetime.", b"omnipotent char")
"""The markers that clang emits only at ``-O1`` and above: lifetime markers and TBAA's root."""

NO_SYSTEM_INCLUDES = ("-nostdlibinc",)
"""Keeps clang's own headers, such as ``stddef.h``, but not those of the system's libraries."""

CXX_LIBRARIES = ("-lstdc++", "-lm")
"""The libraries that a C++ compiler adds when it links."""


def skip_optional_passes(flags: Iterable[str]) -> tuple[str, ...]:
    """Return the flags with which clang runs only the passes that it runs at every level.

    If these passes change nothing, the result is the same as with `EMIT_FLAGS`, byte for byte. If
    `flags` add instrumentation, no pass runs.
    """
    is_instrumented = any(flag.startswith(_INSTRUMENTED) for flag in flags)
    return _NO_PASSES if is_instrumented else ("-mllvm", "-opt-bisect-limit=0", *_QUIET)


@dataclass(frozen=True, slots=True)
class ClangInvocation:
    """One run of clang, without the flags added by this library.

    `args` are clang's arguments: the sources and the flags they need.
    """

    args: Sequence[str]
    system_includes: bool = True
    """True if clang searches the system's header folders; its own headers are always found."""
    timeout: float = 600
    """The time limit in seconds."""
    cwd: Path | None = None
    """The working directory; None is the current directory."""
    sources: tuple[Path, ...] = field(default=())
    """The source files of the program."""
    driver: str | None = None
    """The clang to run; None runs the one that `clang_command` returns."""
    is_own: bool = True
    """True if the sources are the user's own; others are compiled in a sandbox."""

    @classmethod
    def from_c_file(
        cls,
        path: str | Path,
        copt: Iterable[str] | None = None,
        system_includes: bool = True,
        timeout: float = 600,
    ) -> "ClangInvocation":
        """Return the invocation for one source file.

        clang runs in the file's directory, so the bitcode does not depend on its location.
        """
        file = Path(path).expanduser().absolute()
        return cls((*(copt or ()), file.name), system_includes, timeout, file.parent, (file,))

    def command(self, outpath: str | Path) -> list[str]:
        """Return the command that writes bitcode to `outpath`."""
        compiler = clang_command() if self.driver is None else [self.driver]
        emit = (*_EMIT, *skip_optional_passes(self.args))
        places = () if self.system_includes else NO_SYSTEM_INCLUDES
        return [*compiler, *places, *self.args, *emit, "-o", str(outpath)]

    def run(self, input: bytes | None = None) -> bytes:
        """Return the bitcode; raise `BenchmarkInitError` with clang's diagnostics if it fails."""
        with scratch_directory("source") as directory:
            out = Path(directory) / "out.bc"
            command = self.command(out)
            result = self._execute(command, input, Path(directory))
            if result.returncode and b"-opt-bisect-verbose" in result.stderr:  # clang before 17
                at = command.index(_QUIET[1])
                del command[at - 1 : at + 1]
                result = self._execute(command, input, Path(directory))
            if result.returncode or not out.is_file():
                stderr = result.stderr.decode(errors="replace").strip()
                names = [word for word in self.args if word[:1] != "-" and "." in word]
                raise BenchmarkInitError(
                    f"clang cannot compile {' '.join(names) or 'the program'}:\n{stderr}"
                )
            return out.read_bytes()

    def _execute(
        self, command: Sequence[str], input: bytes | None, folder: Path
    ) -> "subprocess.CompletedProcess[bytes]":
        try:
            program = shutil.which(command[0])
            if not self.is_own and program and program != sys.executable:
                return run_tool_boxed(
                    [program, *command[1:]],
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
        except subprocess.TimeoutExpired as error:
            raise BenchmarkTimeoutError(
                f"clang did not finish within {self.timeout:g} s: {' '.join(self.args)}"
            ) from error
        except OSError as error:
            raise BenchmarkInitError(f"cannot run clang: {error}") from error


def _folders_in(args: Sequence[str]) -> list[str]:
    """Return the folders in which clang searches for headers."""
    words = [word.removeprefix("-I") for word in args]
    return [word for word in words if os.path.isabs(word) and os.path.isdir(word)]


def read_program(
    path: Path,
    copt: Iterable[str] | None = None,
    system_includes: bool = True,
    *,
    timeout: float = 600,
) -> bytes:
    """Return the module in the file `path`: IR unchanged, or source compiled with clang."""
    _require_file(path)
    suffix = path.suffix
    if suffix in SOURCE_LANGUAGES:
        _need(path)
        return ClangInvocation.from_c_file(path, copt, system_includes, timeout).run()
    if suffix in IR_SUFFIXES or _looks_like_ir(path):
        contents = _need(path)
        _warn_of_poor_ir(path, contents)
        return contents
    suffixes = ", ".join((*IR_SUFFIXES, *SOURCE_LANGUAGES))
    raise BenchmarkInitError(f"unknown type of file {path}; its name must end in {suffixes}")


def make_benchmark(
    inputs: "str | Path | ClangInvocation | list[str | Path | ClangInvocation]",
    copt: Iterable[str] | None = None,
    system_includes: bool = True,
    timeout: float = 600,
    *,
    run: RunSpec | None = None,
) -> Benchmark:
    """Return a program made from files: C, C++, IR or bitcode; several are linked together.

    `copt` are extra arguments for clang. Without `system_includes`, only the headers of `copt` and
    of clang are found. `run` describes how to run the program; if it names no libraries, those of
    the language are linked. Raises `BenchmarkNotFoundError` for a missing file,
    `BenchmarkTimeoutError` for a timeout and `BenchmarkInitError`, their base class, if a file
    does not compile; `BenchmarkTypeError` for inputs of any other type.
    """
    items = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    if not items:
        raise BenchmarkInitError("no input files; pass at least one")
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
                f"inputs must be paths or ClangInvocations (got {type(item).__name__}: {item!r})"
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
    """Return a program from source text in the language `lang`, a value of clang's ``-x``.

    `system_includes` and `run` are as for `make_benchmark`.
    """
    text = source.encode("utf-8", "surrogateescape") if isinstance(source, str) else source
    args = (*(copt or ()), "-x", lang, "-")
    contents = ClangInvocation(args, system_includes, timeout).run(text)
    suffix = next((s for s, language in SOURCE_LANGUAGES.items() if language == lang), f".{lang}")
    file = BenchmarkSource(f"source{suffix}", text)
    return user_benchmark(contents, [file], with_libraries(run, "++" in lang))


def with_libraries(run: RunSpec | None, is_cxx: bool) -> RunSpec | None:
    """Return `run` with the standard libraries of the language, unless it names libraries."""
    if run is None or run.link:
        return run
    return replace(run, link=CXX_LIBRARIES if is_cxx else ("-lm",))


def user_benchmark(
    contents: bytes, sources: Iterable[BenchmarkSource], run: RunSpec | None = None
) -> Benchmark:
    """Return a benchmark named after a hash of its contents, so that equal programs share it."""
    digest = hashlib.sha256(contents).hexdigest()[:16]
    benchmark = Benchmark.from_file_contents(f"benchmark://user-v0/{digest}", contents, run=run)
    for source in sources:
        benchmark.add_source(source)
    return benchmark


def get_system_library_flags(compiler: str | None = None) -> list[str]:
    """Return the ``-isystem`` flags with which `compiler` finds its system headers."""
    command = [compiler] if compiler else clang_command()
    try:
        result = subprocess.run(
            [*command, "-xc++", "-E", "-v", "-"], input=b"", capture_output=True, check=False
        )
    except OSError as error:
        raise BenchmarkInitError(f"cannot run {command[0]}: {error.strerror}") from error
    lines = result.stderr.decode(errors="replace").splitlines()
    try:
        start = next(i for i, line in enumerate(lines) if line.startswith("#include <...>"))
        end = lines.index("End of search list.", start)
    except (StopIteration, ValueError):
        raise BenchmarkInitError(f"{command[0]} does not print its header folders") from None
    return [word for line in lines[start + 1 : end] for word in ("-isystem", line.strip())]


def _require_file(path: Path) -> None:
    try:
        kind = path.stat().st_mode
    except OSError:
        return  # Reading the file raises the error.
    except ValueError as error:
        raise BenchmarkInitError(f"cannot read {str(path)!r}: {error}") from error
    if stat.S_ISDIR(kind):
        raise BenchmarkInitError(f"{path} is a directory; name a program file")
    if not stat.S_ISREG(kind):
        raise BenchmarkInitError(f"{path} is a pipe or a device; name a program file")


def _need(path: Path) -> bytes:
    try:
        return read_regular(path)
    except OSError as error:
        raise program_unreadable(path, error) from error


def _warn_of_poor_ir(path: Path, contents: bytes) -> None:
    """Warn about IR that clang wrote at ``-O0``: passes and baselines optimise it less."""
    if _CLANG_WROTE_IT in contents and not any(mark in contents for mark in _FOR_PASSES):
        warn_of_the_caller(
            f"{path} has neither TBAA nor lifetime markers, which clang omits at -O0, so passes "
            "can optimise it less; compile it with "
            "-Oz -Xclang -disable-llvm-passes -emit-llvm -c instead",
            CompilerGymWarning,
        )


def _looks_like_ir(path: Path) -> bool:
    return is_bitcode(_need(path))
