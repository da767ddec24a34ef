# SPDX-License-Identifier: MIT
"""The state of an episode: one program and its known facts under any settings.

Runs in a worker. The program is compiled only when it is observed, and never twice with the same
command line, because its facts and errors are cached.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compiler_gym.errors import BenchmarkInitError, CompilerDiagnosticError, CompilerGymError
from compiler_gym.sandbox import is_own
from compiler_gym.session import BenchmarkSpec
from compiler_gym_gcc.programs.memo import Facts, Memo, open_memo
from compiler_gym_gcc.programs.preprocessed import Preprocessed, Sources
from compiler_gym_gcc.programs.source import compile_flags, is_cxx, unpack
from compiler_gym_gcc.state.settings import Settings, command_line
from compiler_gym_gcc.toolchain.build import Builder, is_lasting
from compiler_gym_gcc.toolchain.gcc import Gcc
from compiler_gym_gcc.toolchain.spec import GccSpec

if TYPE_CHECKING:
    from compiler_gym_gcc.toolchain.running import Running

__all__ = ["Finder", "Program", "Words", "decode_text"]

Words = Sequence[str]
"""The settings that a program is compiled with."""


class Program:
    """One program under one compiler, compiled with any settings."""

    def __init__(
        self, spec: GccSpec, benchmark: BenchmarkSpec, directory: Path, *, width: int
    ) -> None:
        self.spec = spec
        self.width = width
        """The number of actions of `OptionThenValue`; stored because counting takes 1 ms."""
        self._benchmark = benchmark
        gcc = Gcc(spec.gcc.bin, is_boxed=not is_own(benchmark.uri))
        self._sources = Sources(gcc, spec.identity, unpack(benchmark.contents), directory)
        self._sources.start()
        self._builder = Builder(gcc, lambda words: self._read(words).compiled, directory)
        self._running: Running | None = None
        self._run_counts: dict[str, str] = {}

    @property
    def timeout(self) -> float:
        """The time limit of one run of GCC, in seconds."""
        return self._builder.timeout

    @timeout.setter
    def timeout(self, seconds: float) -> None:
        self._builder.timeout = seconds

    def set_run_count(self, name: str, value: str) -> None:
        """Set the number of runs; see `Running.counts`."""
        self._run_counts[name] = value
        if self._running is not None:
            self._running.set(name, value)

    def move_to(self, directory: Path) -> None:
        """Compile in `directory` from now on."""
        self._builder.move_to(directory)
        self._sources.move_to(directory)

    def source(self, words: Words) -> str:
        """Return the preprocessed source."""
        text = self._read(words).text
        return decode_text(b"".join(text.files[unit] for unit in text.units))

    def command_line(self, settings: Settings) -> str:
        """Return the command that compiles the program."""
        pending = None if settings.pending is None else settings.options[settings.pending].name
        program = self._sources.program
        return command_line(
            self.spec.gcc.program,
            settings.words,
            compile_flags(program),
            suffix=".ii" if is_cxx(program) else ".i",
            pending=pending,
        )

    def product(self, make: Callable[[Builder, Words], bytes], words: Words) -> bytes:
        """Return the result of `make`; raise the compiler's error, which is cached."""
        command, memo = " ".join(words), self._memo(words)
        facts = memo.facts(command)
        if "error" in facts:
            raise _blame(facts["error"], words)
        try:
            return make(self._builder, words)
        except CompilerDiagnosticError as error:
            if is_lasting(error):
                memo.add(command, {"error": str(error)})
            raise _blame(str(error), words) from error

    def fact(self, name: str, words: Words, find: "Finder") -> Any:
        """Return the fact `name` from the memo, or compute it and possibly others with `find`."""
        command, memo = " ".join(words), self._memo(words)
        facts = memo.facts(command)
        if name in facts:
            return facts[name]
        if "error" in facts:
            raise _blame(facts["error"], words)
        computed = find(self, words)
        memo.add(command, computed)
        return computed[name]

    def instructions(self, words: Words) -> int:
        """Return the number of instructions that a run retires, from the memo if possible."""
        running = self.running()
        fact = f"runtime_instructions {running.identity()}"
        command, memo = " ".join(words), self._memo(words)
        count = memo.facts(command).get(fact)
        if count is None:
            count = running.instructions(words)
            memo.add(command, {fact: count})
        return count

    def running(self) -> "Running":
        """Return the runner of the program."""
        if self._running is None:
            # Only runs need this import.
            from compiler_gym_gcc.toolchain.running import Running

            self._running = Running(self._benchmark, lambda: self._builder)
            for key, value in self._run_counts.items():
                self._running.set(key, value)
        return self._running

    def _read(self, words: Words) -> Preprocessed:
        return self._sources.read(words, self._builder.timeout)

    def _memo(self, words: Words) -> Memo:
        """Return the memo of the program preprocessed under `words`."""
        return open_memo(self._sources.facts_path(self._read(words).digest))


Finder = Callable[[Program, Words], Facts]
"""Computes facts about the program compiled with given settings."""


def decode_text(data: bytes) -> str:
    """Return `data` as text, replacing invalid bytes."""
    return data.decode(errors="replace")


def _blame(message: str, words: Words) -> CompilerGymError:
    """Return a compilation error, attributed to the program if there are no settings."""
    if words:
        return CompilerDiagnosticError(message)
    return BenchmarkInitError(f"the program does not compile:\n{message}")
