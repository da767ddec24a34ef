# SPDX-License-Identifier: MIT
"""Runs GCC on one program: preprocesses it, then makes assembly, objects and dumps.

Every run is a child process with a deadline and bounds, and its failures become
typed errors. What was made last is kept, so that one run serves several questions.
"""

import re
import resource
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath

from compiler_gym.envs.gcc.programs.source import (
    LANGUAGES,
    SourceProgram,
    compile_flags,
    find_suffix,
    is_cxx,
)
from compiler_gym.envs.gcc.toolchain.gcc import Gcc
from compiler_gym.envs.gcc.toolchain.products import runs_here
from compiler_gym.envs.gcc.toolchain.timeout import DEFAULT_SECONDS
from compiler_gym.errors import (
    CompilerDiagnosticError,
    CompilerFatalError,
    CompilerGymError,
    ObservationError,
    WorkerOutOfMemoryError,
    WorkerTimeoutError,
)
from compiler_gym.sandbox import run_tool_boxed

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

    `units` says what is compiled under the settings it is given: the preprocessed
    program may depend on them. The files lie in a directory of its own; `moved` gives
    it another, which holds a copy of them.
    """

    def __init__(
        self, gcc: Gcc, units: Callable[[Sequence[str]], SourceProgram], directory: Path
    ) -> None:
        self.timeout = DEFAULT_SECONDS
        """Seconds that one run of GCC may take."""
        self._gcc = gcc
        self._units_for = units
        self._units = SourceProgram((), {})
        """What lies in the directory."""
        self._directory = directory
        self._words: tuple[str, ...] | None = None
        self._made: dict[str, bytes] = {}

    def move_to(self, directory: Path) -> None:
        """Use `directory` from now on."""
        self._directory = directory

    def assembly(self, words: Sequence[str]) -> bytes:
        """Return the assembly of the program compiled with the settings `words`."""
        made = self._make_files(words)
        if "asm" not in made:
            self._run_gcc(words, "-S")
            made["asm"] = self._collect(".s")
        return made["asm"]

    def object(self, words: Sequence[str]) -> bytes:
        """Return the object file; that of several units is linked together into one."""
        made = self._make_files(words)
        if "obj" not in made:
            units = self._write_units(words)
            if all(LANGUAGES.get(find_suffix(u), "c").endswith("cpp-output") for u in units.units):
                self._run_gcc(words, "-c", "-save-temps")  # its assembly costs nothing more
                made["asm"] = self._collect(".s")
            else:  # which would preprocess apart from compiling
                self._run_gcc(words, "-c")
            made["obj"] = self._link()
        return made["obj"]

    def program(self, words: Sequence[str], libraries: Sequence[str]) -> Path:
        """Return the path of the linked program; raise `ObservationError` if it cannot run here."""
        if self._gcc.is_docker:
            raise ObservationError("programs of a Docker image are not run outside of it")
        data = self.object(words)
        if not runs_here(data):
            raise ObservationError(
                f"{self._gcc.program} compiles for another machine: its programs are not run here"
            )
        if "program" not in self._made:
            (self._directory / "obj.o").write_bytes(data)
            standard = ("-lstdc++",) if is_cxx(self._units) else ()
            linking = [*words, "obj.o", "-o", "program", *libraries, *standard]
            _run_gcc(self._gcc, linking, self._directory, self.timeout)
            self._made["program"] = b""
        return self._directory / "program"

    def rtl(self, words: Sequence[str]) -> bytes:
        """Return the last dump of GCC's register transfer language."""
        made = self._make_files(words)
        if "rtl" not in made:
            for stale in self._directory.glob("*r.dfinish"):
                stale.unlink()
            self._run_gcc(words, "-S", "-fdump-rtl-dfinish", "-fdump-noaddr")
            made["asm"] = self._collect(".s")
            made["rtl"] = b"".join(
                p.read_bytes() for p in sorted(self._directory.glob("*r.dfinish"))
            )
        return made["rtl"]

    def _make_files(self, words: Sequence[str]) -> dict[str, bytes]:
        chosen = tuple(words)
        if self._words != chosen:
            self._words, self._made = chosen, {}
        return self._made

    def _run_gcc(self, words: Sequence[str], *wanted: str) -> None:
        try:
            self._write_units(words)
            given = [*words, *wanted, "-w", *self._units.flags, *self._units.units]
            _run_gcc(self._gcc, given, self._directory, self.timeout)
        except CompilerGymError:
            self._words = None  # what lies in the directory is half made
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
    """Return `program` as units that need no header, preprocessed under the settings `words`.

    Raises `CompilerDiagnosticError` with the compiler's own words if it cannot be.
    """
    _write_files(program.files, directory)
    found: dict[str, bytes] = {}
    for number, unit in enumerate(program.units):
        language = LANGUAGES.get(find_suffix(unit), "c")
        name = f"{number:03}-{PurePosixPath(unit).stem}{_PREPROCESSED[language]}"
        if language.endswith("cpp-output"):
            found[name] = program.files[unit]
            continue
        given = ("-x", language, "-E", *words, "-w", *program.flags, unit, "-o", name)
        _run_gcc(gcc, given, directory, timeout)
        found[name] = (directory / name).read_bytes()
    return SourceProgram(tuple(found), found, compile_flags(program))


def check(gcc: Gcc, units: SourceProgram, directory: Path, timeout: float) -> None:
    """Raise `CompilerDiagnosticError` if preprocessed `units` have errors."""
    _write_files(units.files, directory)
    _run_gcc(gcc, ("-fsyntax-only", "-w", *units.flags, *units.units), directory, timeout)


def read_macros(gcc: Gcc, query: Sequence[str], directory: Path, timeout: float) -> bytes:
    """Return what the compiler prints when it is asked for its macros."""
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
            done = run_tool_boxed(command, folder=directory, seconds=timeout)
        else:
            done = gcc.run(words, timeout=timeout, cwd=directory, setup=_bound)
    except subprocess.TimeoutExpired:
        raise WorkerTimeoutError(
            f"{gcc.program} did not finish within {timeout:g} s and was ended", seconds=timeout
        ) from None
    if done.returncode:
        raise _make_error(done, gcc)
    return done


def is_lasting(error: CompilerDiagnosticError) -> bool:
    """Return whether the compiler would say the same again, and not of a full disk.

    >>> is_lasting(CompilerDiagnosticError("as: src.s: No space left on device"))
    False
    """
    return _PASSING.search(str(error)) is None


def _make_error(done: subprocess.CompletedProcess[bytes], gcc: Gcc) -> CompilerGymError:
    text = done.stderr.decode(errors="replace").strip()[:_MOST_WORDS]
    said = text or f"{gcc.program} ended with status {done.returncode} and no word"
    if _NO_MEMORY.search(text):
        return WorkerOutOfMemoryError(f"{gcc.program} ran out of memory:\n{said}")
    if done.returncode < 0 or "internal compiler error" in text or "terminated program" in text:
        return CompilerFatalError(f"{gcc.program} crashed:\n{said}")
    return CompilerDiagnosticError(said)


def _bound() -> None:
    """Bound the memory and the files of a run; a worker's own bounds stay if they are there."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (_GCC_FILE_BYTES, _GCC_FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if soft == resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_AS, (_GCC_MEMORY_BYTES, hard))
