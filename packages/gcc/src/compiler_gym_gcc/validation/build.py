# SPDX-License-Identifier: MIT
"""Link programs from object files, and build the reference: the unchanged program at -O0."""

import functools
import shutil
import subprocess
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from compiler_gym.datasets import Benchmark, RunLimits, RunSpec
from compiler_gym.errors import BenchmarkInitError, BenchmarkTimeoutError, CompilerError
from compiler_gym.files import KeptDirectory, scratch_directory
from compiler_gym.sandbox import is_own
from compiler_gym.validation import Reference
from compiler_gym_gcc.programs.source import is_cxx, unpack
from compiler_gym_gcc.toolchain.build import Builder, preprocess
from compiler_gym_gcc.toolchain.gcc import Gcc

__all__ = ["build_reference", "link_program"]

_BUILD_SECONDS = 300.0
_MOST_REFERENCES = 32
_lock = threading.Lock()


@contextmanager
def link_program(
    gcc_bin: str, object_file: bytes, benchmark: Benchmark, words: Sequence[str] = ()
) -> Generator[Path]:
    """Yield the program of an object file, in a directory that is removed afterwards.

    `words` are the settings that it was compiled with: some need a library of GCC.
    """
    with scratch_directory("link") as directory:
        folder = Path(directory)
        yield _link_program(gcc_bin, object_file, folder, [*words, *_libraries(benchmark)])


def build_reference(gcc_bin: str, benchmark: Benchmark, spec: RunSpec) -> Reference:
    """Return the program of the unchanged `benchmark` at -O0, built on its first run."""
    contents = spec.reference or benchmark.contents
    is_boxed = not is_own(str(benchmark.uri))
    return _reference(gcc_bin, is_boxed, contents, _libraries(benchmark), spec.time_limit)


def _link_program(gcc_bin: str, object_file: bytes, folder: Path, words: Sequence[str]) -> Path:
    (folder / "obj.o").write_bytes(object_file)
    command = ["obj.o", "-o", "program", *words]
    try:
        result = Gcc(gcc_bin).run(command, timeout=_BUILD_SECONDS, cwd=folder)
    except subprocess.TimeoutExpired as error:
        text = f"{gcc_bin} did not link within {_BUILD_SECONDS:g} s"
        raise BenchmarkTimeoutError(text) from error
    if result.returncode:
        stderr = result.stderr.decode(errors="replace").strip()[:2000]
        raise BenchmarkInitError(f"{gcc_bin} cannot link the program:\n{stderr}")
    return folder / "program"


def _libraries(benchmark: Benchmark) -> tuple[str, ...]:
    """Return the linker flags of the benchmark and of its language."""
    own = benchmark.run.link if benchmark.run is not None else ()
    return (*own, *(("-lstdc++",) if is_cxx(unpack(benchmark.contents)) else ()))


@functools.lru_cache(maxsize=_MOST_REFERENCES)
def _reference(
    gcc_bin: str, is_boxed: bool, contents: bytes, libraries: tuple[str, ...], seconds: float
) -> Reference:
    directory = KeptDirectory("reference")

    def build() -> Path:
        with _lock:
            folder = directory.path
            gcc = Gcc(gcc_bin, is_boxed=is_boxed)
            try:
                units = preprocess(
                    gcc, unpack(contents), ["-O0"], folder / "sources", _BUILD_SECONDS
                )
                object_file = Builder(gcc, lambda _: units, folder / "units").object(["-O0"])
            except CompilerError as error:
                raise BenchmarkInitError(f"the program does not compile at -O0: {error}") from error
            shutil.rmtree(folder / "sources", ignore_errors=True)
            return _link_program(gcc_bin, object_file, folder, libraries)

    return Reference(build, RunLimits(seconds=seconds))
