# SPDX-License-Identifier: MIT
"""Run GCC on one program: preprocess it, then make assembly, objects and dumps.

Every run is a child process with limits on time, memory and files; failures become typed errors.
The latest results are kept, so that one run serves several observations.
"""

import re
import resource
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath

from compiler_gym.errors import (
    CompilerDiagnosticError,
    CompilerFatalError,
    CompilerGymError,
    ObservationError,
    WorkerOutOfMemoryError,
    WorkerTimeoutError,
)
from compiler_gym.sandbox import run_tool_boxed
from compiler_gym_gcc.programs.source import (
    LANGUAGES,
    SourceProgram,
    compile_flags,
    find_suffix,
    is_cxx,
)
from compiler_gym_gcc.toolchain.gcc import Gcc
from compiler_gym_gcc.toolchain.products import runs_here
from compiler_gym_gcc.toolchain.timeout import DEFAULT_SECONDS

__all__ = ["Builder", "check", "is_lasting", "preprocess", "read_macros"]

_GCC_MEMORY_BYTES = 8 << 30
_GCC_FILE_BYTES = 1 << 30
_MOST_WORDS = 4000
_NO_MEMORY = re.compile(
    r"out of memory|virtual memory exhausted|[Cc]annot allocate memory|[Kk]illed"
    r"|MemoryError|std::bad_alloc",
    re.ASCII,
)
_PASSING = re.compile(
    r"No space left on device|Resource temporarily unavailable|Too many open files"
    r"|Input/output error|Read-only file system|[Cc]annot create|cannot execute|Text file busy"
    r"|file not found: /|/\S+: No such file or directory|/\S+: Permission denied",
    re.ASCII,
)
_PREPROCESSED = {"c": ".i", "cpp-output": ".i", "c++": ".ii", "c++-cpp-output": ".ii"}


class Builder:
    """Compiles the units of one program with given settings.

    `units` returns the program to compile for given settings, because the preprocessed program can
    depend on them. The builder needs a directory to itself; `move_to` switches to another one that
    holds copies of the files.
    """

    def __init__(
        self, gcc: Gcc, units: Callable[[Sequence[str]], SourceProgram], directory: Path
    ) -> None:
        self.timeout = DEFAULT_SECONDS
        """The time limit of one run of GCC, in seconds."""
        self._gcc = gcc
        self._units_for = units
        self._units = SourceProgram((), {})
        """The program whose files are in the directory."""
        self._directory = directory
        self._words: tuple[str, ...] | None = None
        self._products: dict[str, bytes] = {}

    def move_to(self, directory: Path) -> None:
        """Use `directory` from now on."""
        self._directory = directory

    def assembly(self, words: Sequence[str]) -> bytes:
        """Return the assembly of the program compiled with the settings `words`."""
        products = self._make_files(words)
        if "asm" not in products:
            self._run_gcc(words, "-S")
            products["asm"] = self._collect(".s")
        return products["asm"]

    def object(self, words: Sequence[str]) -> bytes:
        """Return the object file; those of several units are linked into one."""
        products = self._make_files(words)
        if "obj" not in products:
            units = self._write_units(words)
            if all(LANGUAGES.get(find_suffix(u), "c").endswith("cpp-output") for u in units.units):
                self._run_gcc(words, "-c", "-save-temps")  # keeps the assembly at no extra cost
                products["asm"] = self._collect(".s")
            else:  # here, -save-temps would run the preprocessor separately
                self._run_gcc(words, "-c")
            products["obj"] = self._link()
        return products["obj"]

    def program(self, words: Sequence[str], libraries: Sequence[str]) -> Path:
        """Link the program and return its path; raise `ObservationError` if it cannot run here."""
        if self._gcc.is_docker:
            raise ObservationError("programs from a Docker image cannot run outside the image")
        data = self.object(words)
        if not runs_here(data):
            raise ObservationError(
                f"{self._gcc.program} compiles for another machine: its programs cannot run here"
            )
        if "program" not in self._products:
            (self._directory / "obj.o").write_bytes(data)
            standard = ("-lstdc++",) if is_cxx(self._units) else ()
            linking = [*words, "obj.o", "-o", "program", *libraries, *standard]
            _run_gcc(self._gcc, linking, self._directory, self.timeout)
            self._products["program"] = b""
        return self._directory / "program"

    def rtl(self, words: Sequence[str]) -> bytes:
        """Return GCC's last dump of its register transfer language."""
        products = self._make_files(words)
        if "rtl" not in products:
            for stale in self._directory.glob("*r.dfinish"):
                stale.unlink()
            self._run_gcc(words, "-S", "-fdump-rtl-dfinish", "-fdump-noaddr")
            products["asm"] = self._collect(".s")
            products["rtl"] = b"".join(
                p.read_bytes() for p in sorted(self._directory.glob("*r.dfinish"))
            )
        return products["rtl"]

    def _make_files(self, words: Sequence[str]) -> dict[str, bytes]:
        settings = tuple(words)
        if self._words != settings:
            self._words, self._products = settings, {}
        return self._products

    def _run_gcc(self, words: Sequence[str], *actions: str) -> None:
        try:
            self._write_units(words)
            arguments = [*words, *actions, "-w", *self._units.flags, *self._units.units]
            _run_gcc(self._gcc, arguments, self._directory, self.timeout)
        except CompilerGymError:
            self._words = None  # the files in the directory may be incomplete
            raise

    def _write_units(self, words: Sequence[str]) -> SourceProgram:
        units = self._units_for(words)
        if units is not self._units:
            _write_files(units.files, self._directory)
            self._units = units
        return units

    def _collect(self, suffix: str) -> bytes:
        return b"".join(self._output(unit, suffix).read_bytes() for unit in self._units.units)

    def _output(self, unit: str, suffix: str) -> Path:
        return self._directory / PurePosixPath(unit).with_suffix(suffix).name

    def _link(self) -> bytes:
        units = self._units.units
        if len(units) > 1:
            objects = [PurePosixPath(unit).with_suffix(".o").name for unit in units]
            words = ["-r", "-nostdlib", "-o", "linked", *objects]
            _run_gcc(self._gcc, words, self._directory, self.timeout)
            return (self._directory / "linked").read_bytes()
        return self._collect(".o")


def preprocess(
    gcc: Gcc, program: SourceProgram, words: Sequence[str], directory: Path, timeout: float
) -> SourceProgram:
    """Return `program` preprocessed under the settings `words`, without any headers.

    Raises `CompilerDiagnosticError` with the compiler's diagnostics if this fails.
    """
    _write_files(program.files, directory)
    units: dict[str, bytes] = {}
    for number, unit in enumerate(program.units):
        language = LANGUAGES.get(find_suffix(unit), "c")
        name = f"{number:03}-{PurePosixPath(unit).stem}{_PREPROCESSED[language]}"
        if language.endswith("cpp-output"):
            units[name] = program.files[unit]
            continue
        arguments = ("-x", language, "-E", *words, "-w", *program.flags, unit, "-o", name)
        _run_gcc(gcc, arguments, directory, timeout)
        units[name] = (directory / name).read_bytes()
    return SourceProgram(tuple(units), units, compile_flags(program))


def check(gcc: Gcc, units: SourceProgram, directory: Path, timeout: float) -> None:
    """Raise `CompilerDiagnosticError` if preprocessed `units` have errors."""
    _write_files(units.files, directory)
    _run_gcc(gcc, ("-fsyntax-only", "-w", *units.flags, *units.units), directory, timeout)


def read_macros(gcc: Gcc, query: Sequence[str], directory: Path, timeout: float) -> bytes:
    """Return the compiler's output for a query of its macros."""
    directory.mkdir(parents=True, exist_ok=True)
    return _run_gcc(gcc, query, directory, timeout).stdout


def _write_files(files: Mapping[str, bytes], directory: Path) -> None:
    for name, contents in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(contents)


def _run_gcc(
    gcc: Gcc, words: Sequence[str], directory: Path, timeout: float
) -> "subprocess.CompletedProcess[bytes]":
    try:
        if gcc.is_boxed and not gcc.is_docker:  # a container is a sandbox already
            command = [str(gcc.path()), *words]
            result = run_tool_boxed(command, folder=directory, seconds=timeout)
        else:
            result = gcc.run(words, timeout=timeout, cwd=directory, setup=_bound)
    except subprocess.TimeoutExpired:
        raise WorkerTimeoutError(
            f"{gcc.program} did not finish within {timeout:g} s and was killed", seconds=timeout
        ) from None
    if result.returncode:
        raise _make_error(result, gcc)
    return result


def is_lasting(error: CompilerDiagnosticError) -> bool:
    """Return whether the error is permanent, unlike that of a full disk, for example.

    >>> is_lasting(CompilerDiagnosticError("as: src.s: No space left on device"))
    False
    """
    return _PASSING.search(str(error)) is None


def _make_error(result: subprocess.CompletedProcess[bytes], gcc: Gcc) -> CompilerGymError:
    text = result.stderr.decode(errors="replace").strip()[:_MOST_WORDS]
    message = text or f"{gcc.program} exited with status {result.returncode} without a message"
    if _NO_MEMORY.search(text):
        return WorkerOutOfMemoryError(f"{gcc.program} ran out of memory:\n{message}")
    if result.returncode < 0 or "internal compiler error" in text or "terminated program" in text:
        return CompilerFatalError(f"{gcc.program} crashed:\n{message}")
    return CompilerDiagnosticError(message)


def _bound() -> None:
    """Limit the memory and files of a run; a worker's own limit on memory takes precedence."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (_GCC_FILE_BYTES, _GCC_FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if soft == resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_AS, (_GCC_MEMORY_BYTES, hard))
