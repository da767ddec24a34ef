# SPDX-License-Identifier: MIT
"""Programs from an imported corpus: IR unchanged, source compiled on demand.

A corpus can hold files that today's clang does not compile; this is reported as an error of the
program, not of the corpus.
"""

from compiler_gym.builds import IR_SUFFIXES, SOURCE_LANGUAGES
from compiler_gym.datasets import Benchmark, BenchmarkUri, BenchmarkWithSource, CorpusProgram
from compiler_gym.envs.llvm.programs.collections.published import OPENCL, POJ104Dataset
from compiler_gym.envs.llvm.programs.kept import make_cached
from compiler_gym.envs.llvm.programs.source import ClangInvocation, clang_command
from compiler_gym.envs.llvm.toolchain.clang import OLD_C
from compiler_gym.errors import BenchmarkInitError
from compiler_gym.files import tool_identity

__all__ = ["read_stored"]

_COMPILE_SECONDS = 300.0


def read_stored(uri: BenchmarkUri, program: CorpusProgram) -> Benchmark:
    """Return the benchmark of a stored file; raise `BenchmarkInitError` if it is not a program."""
    if program.suffix in IR_SUFFIXES:
        return Benchmark.from_file_contents(uri, program.contents)
    source = program.contents
    flags = _choose_flags(program.suffix)
    if program.suffix == ".cpp" and program.key.endswith(".txt"):
        # The layout of POJ-104, whose solutions lack headers.
        source = POJ104Dataset.as_program(source)
        flags = POJ104Dataset.flags
    if flags is None:
        suffixes = ", ".join((*IR_SUFFIXES, *SOURCE_LANGUAGES, ".cl"))
        raise BenchmarkInitError(
            f"{uri} has the suffix {program.suffix!r}; supported are {suffixes}"
        )
    made_from = ("stored", tool_identity(clang_command()[0]), *flags, source)

    def compile_source() -> bytes:
        return ClangInvocation(flags, timeout=_COMPILE_SECONDS, is_own=False).run(source)

    contents = make_cached(made_from, compile_source)
    name = f"source{program.suffix}"
    return BenchmarkWithSource.create(uri, contents, name, program.contents)


def _choose_flags(suffix: str) -> tuple[str, ...] | None:
    if suffix == ".cl":
        return (*OPENCL, "-")
    language = SOURCE_LANGUAGES.get(suffix)
    if language is None:
        return None
    return (*(OLD_C if language == "c" else ()), "-x", language, "-")
