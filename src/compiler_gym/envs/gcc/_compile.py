# SPDX-License-Identifier: MIT
"""Runs GCC on one program: preprocesses it once, then makes assembly, objects and dumps.

Every run is a child process with a deadline and bounds, and its failures become
typed errors. What was made last is kept, so that one run serves several questions.
"""

import re
import resource
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from compiler_gym.envs.gcc._gcc import Gcc
from compiler_gym.envs.gcc._program import LANGUAGES, Program, compile_flags, is_cxx, suffix_of
from compiler_gym.errors import (
    BenchmarkInitError,
    CompilerDiagnosticError,
    CompilerError,
    CompilerFatalError,
    CompilerGymError,
    ObservationError,
    WorkerOutOfMemoryError,
    WorkerTimeoutError,
)

__all__ = ["PREPROCESS_FLAGS", "Builder", "preprocess"]

PREPROCESS_FLAGS = ("-O2", "-w")
"""Macros such as ``__OPTIMIZE__`` are those of an optimised build, whatever follows."""

DEFAULT_SECONDS = 60.0
"""How long one run of GCC may take."""

_MEMORY_BYTES = 8 << 30
_FILE_BYTES = 1 << 30
_MOST_WORDS = 4000
_NO_MEMORY = re.compile(
    r"out of memory|virtual memory exhausted|[Cc]annot allocate memory|[Kk]illed", re.ASCII
)
_PREPROCESSED = {"c": ".i", "cpp-output": ".i", "c++": ".ii", "c++-cpp-output": ".ii"}


class Builder:
    """Compiles the preprocessed units of one program with given settings.

    Its files lie in a directory of its own; `moved` gives it another, which holds
    a copy of them.
    """

    def __init__(self, gcc: Gcc, units: Program, directory: Path) -> None:
        self.timeout = DEFAULT_SECONDS
        """Seconds that one run of GCC may take."""
        self._gcc = gcc
        self._units = units
        self._directory = directory
        self._is_written = False
        self._words: tuple[str, ...] | None = None
        self._made: dict[str, bytes] = {}

    def moved(self, directory: Path) -> None:
        """Use `directory` from now on."""
        self._directory = directory

    def assembly(self, words: Sequence[str]) -> bytes:
        """Return the assembly of the program compiled with the settings `words`."""
        made = self._made_with(words)
        if "asm" not in made:
            self._run([*words, "-S"])
            made["asm"] = self._collect(".s")
        return made["asm"]

    def object(self, words: Sequence[str]) -> bytes:
        """Return the object file; that of several units is linked together into one."""
        made = self._made_with(words)
        if "obj" not in made:
            self._run([*words, "-c", "-save-temps"])  # its assembly costs nothing more
            made["asm"] = self._collect(".s")
            made["obj"] = self._linked()
        return made["obj"]

    def program(self, words: Sequence[str], libraries: Sequence[str]) -> Path:
        """Return the path of the linked program; raise `ObservationError` if it cannot run here."""
        if self._gcc.is_docker:
            raise ObservationError("programs of a Docker image are not run outside of it")
        data = self.object(words)
        if "program" not in self._made:
            (self._directory / "obj.o").write_bytes(data)
            standard = ("-lstdc++",) if is_cxx(self._units) else ()
            linking = [*words, "obj.o", "-o", "program", *libraries, *standard]
            _run(self._gcc, linking, self._directory, self.timeout)
            self._made["program"] = b""
        return self._directory / "program"

    def rtl(self, words: Sequence[str]) -> bytes:
        """Return the last dump of GCC's register transfer language."""
        made = self._made_with(words)
        if "rtl" not in made:
            for stale in self._directory.glob("*r.dfinish"):
                stale.unlink()
            self._run([*words, "-S", "-fdump-rtl-dfinish", "-fdump-noaddr"])
            made["asm"] = self._collect(".s")
            made["rtl"] = b"".join(
                p.read_bytes() for p in sorted(self._directory.glob("*r.dfinish"))
            )
        return made["rtl"]

    def _made_with(self, words: Sequence[str]) -> dict[str, bytes]:
        chosen = tuple(words)
        if self._words != chosen:
            self._words, self._made = chosen, {}
        return self._made

    def _run(self, words: Sequence[str]) -> None:
        self._write_units()
        words = [*words, "-w", *self._units.flags, *self._units.units]
        try:
            _run(self._gcc, words, self._directory, self.timeout)
        except CompilerGymError:
            self._words = None  # what lies in the directory is half made
            raise

    def _write_units(self) -> None:
        if self._is_written:
            return
        _write(self._units.files, self._directory)
        self._is_written = True

    def _collect(self, suffix: str) -> bytes:
        return b"".join(self._output(unit, suffix).read_bytes() for unit in self._units.units)

    def _output(self, unit: str, suffix: str) -> Path:
        return self._directory / PurePosixPath(unit).with_suffix(suffix)

    def _linked(self) -> bytes:
        units = self._units.units
        if len(units) > 1:
            objects = [PurePosixPath(unit).with_suffix(".o").name for unit in units]
            words = ["-r", "-nostdlib", "-o", "linked", *objects]
            _run(self._gcc, words, self._directory, self.timeout)
            return (self._directory / "linked").read_bytes()
        return self._collect(".o")


def preprocess(gcc: Gcc, program: Program, directory: Path, timeout: float) -> Program:
    """Return `program` as preprocessed units that need no header, checked for errors.

    Raises `BenchmarkInitError` with the compiler's own words if it does not compile.
    """
    _write(program.files, directory)
    found: dict[str, bytes] = {}
    try:
        for number, unit in enumerate(program.units):
            language = LANGUAGES.get(suffix_of(unit), "c")
            name = f"{number:03}-{PurePosixPath(unit).stem}{_PREPROCESSED[language]}"
            if language.endswith("cpp-output"):
                found[name] = program.files[unit]
                (directory / name).write_bytes(found[name])
                continue
            words = ("-x", language, "-E", *PREPROCESS_FLAGS, *program.flags, unit, "-o", name)
            _run(gcc, words, directory, timeout)
            found[name] = (directory / name).read_bytes()
        flags = compile_flags(program)
        _run(gcc, ("-fsyntax-only", "-w", *flags, *found), directory, timeout)
    except CompilerError as error:
        raise BenchmarkInitError(f"the program does not compile:\n{error}") from error
    return Program(tuple(found), found, flags)


def _write(files: Mapping[str, bytes], directory: Path) -> None:
    for name, contents in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(contents)


def _run(gcc: Gcc, words: Sequence[str], directory: Path, timeout: float) -> None:
    try:
        done = gcc.run(words, timeout=timeout, cwd=directory, setup=_bound)
    except subprocess.TimeoutExpired:
        raise WorkerTimeoutError(
            f"{gcc.program} did not finish within {timeout:g} s and was ended", seconds=timeout
        ) from None
    if done.returncode:
        raise _error_of(done, gcc)


def _error_of(done: subprocess.CompletedProcess[bytes], gcc: Gcc) -> CompilerGymError:
    text = done.stderr.decode(errors="replace").strip()[:_MOST_WORDS]
    said = text or f"{gcc.program} ended with status {done.returncode} and no word"
    if _NO_MEMORY.search(text):
        return WorkerOutOfMemoryError(f"{gcc.program} ran out of memory:\n{said}")
    if done.returncode < 0 or "internal compiler error" in text or "terminated program" in text:
        return CompilerFatalError(f"{gcc.program} crashed:\n{said}")
    return CompilerDiagnosticError(said)


def _bound() -> None:
    """Bound the memory and the files of a run; a worker's own bounds stay if they are there."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE_BYTES, _FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if soft == resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, hard))
