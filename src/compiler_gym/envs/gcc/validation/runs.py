# SPDX-License-Identifier: MIT
"""Does the program still do its job? Link it, run it, and compare with its build at -O0."""

import functools
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from compiler_gym.datasets import Benchmark, RunLimits, RunSpec
from compiler_gym.envs.gcc.machine.build import Builder, preprocess
from compiler_gym.envs.gcc.machine.gcc import Gcc
from compiler_gym.envs.gcc.machine.products import runs_here
from compiler_gym.envs.gcc.machine.settings import CommandReader
from compiler_gym.envs.gcc.machine.spec import get_spec
from compiler_gym.envs.gcc.programs.source import is_cxx, unpack
from compiler_gym.errors import BenchmarkInitError, CompilerError
from compiler_gym.files import KeptDirectory
from compiler_gym.validation import (
    Finding,
    Reference,
    Subject,
    ValidationError,
    chosen_cases,
    compare_behaviour,
)

__all__ = ["check_runs", "is_linked", "linked"]

_SECONDS = 300.0
_MOST_REFERENCES = 32
_lock = threading.Lock()


def is_linked(subject: Subject) -> bool:
    """Return whether programs of the compiler run on this machine."""
    return not Gcc(getattr(subject.env, "gcc_bin", "")).is_docker


def check_runs(subject: Subject) -> Finding:
    """Return whether the program does on its inputs what its build at -O0 does."""
    benchmark = subject.benchmark
    spec = benchmark.run
    if spec is None or not spec.cases:
        return Finding.unknown("nothing is known of how to run this program")
    gcc_bin, object_file = getattr(subject.env, "gcc_bin", ""), subject.env.observation["obj"]
    if not runs_here(object_file):
        return Finding.unknown(f"{gcc_bin} compiles for another machine: nothing was run")
    cases = chosen_cases(spec)
    reference = _reference_of(gcc_bin, benchmark, spec)
    limits = RunLimits(seconds=spec.time_limit)
    words = _words(gcc_bin, subject.env.commandline())
    try:
        with linked(gcc_bin, object_file, benchmark, words) as program:
            return compare_behaviour(program, reference, cases, limits=limits)
    except BenchmarkInitError as error:
        refusal = str(error)
    try:
        reference.run(cases[0])
    except BenchmarkInitError as error:
        return Finding.unknown(f"the unoptimised program does not link either: {error}")
    return Finding.failed([ValidationError("the program does not link", {"error": refusal})])


@contextmanager
def linked(
    gcc_bin: str, object_file: bytes, benchmark: Benchmark, words: Sequence[str] = ()
) -> Iterator[Path]:
    """Lend the program of an object file, in a directory that is removed afterwards.

    `words` are the settings it was compiled with: some need a library of GCC's own.
    """
    with tempfile.TemporaryDirectory(prefix="compiler_gym-link-") as directory:
        folder = Path(directory)
        yield _link(gcc_bin, object_file, folder, [*words, *_libraries(benchmark)])


def _link(gcc_bin: str, object_file: bytes, folder: Path, words: Sequence[str]) -> Path:
    (folder / "obj.o").write_bytes(object_file)
    command = ["obj.o", "-o", "program", *words]
    try:
        done = Gcc(gcc_bin).run(command, timeout=_SECONDS, cwd=folder)
    except subprocess.TimeoutExpired:
        raise BenchmarkInitError(f"{gcc_bin} did not link within {_SECONDS:g} s") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()[:2000]
        raise BenchmarkInitError(f"{gcc_bin} cannot link the program:\n{said}")
    return folder / "program"


def _libraries(benchmark: Benchmark) -> tuple[str, ...]:
    """Return what the program is linked with: what it says, and what its language needs."""
    own = benchmark.run.link if benchmark.run is not None else ()
    return (*own, *(("-lstdc++",) if is_cxx(unpack(benchmark.contents)) else ()))


def _words(gcc_bin: str, commandline: str) -> list[str]:
    options = get_spec(gcc_bin).options
    choices, _ = CommandReader(options).read(commandline)
    return [options[at][choice] for at, choice in enumerate(choices) if choice >= 0]


def _reference_of(gcc_bin: str, benchmark: Benchmark, spec: RunSpec) -> Reference:
    contents = spec.reference or benchmark.contents
    return _reference(gcc_bin, contents, _libraries(benchmark), spec.time_limit)


@functools.lru_cache(maxsize=_MOST_REFERENCES)
def _reference(
    gcc_bin: str, contents: bytes, libraries: tuple[str, ...], seconds: float
) -> Reference:
    directory = KeptDirectory("compiler_gym-reference-")

    def build() -> Path:
        with _lock:
            folder = directory.path
            gcc = Gcc(gcc_bin)
            try:
                units = preprocess(gcc, unpack(contents), ["-O0"], folder / "sources", _SECONDS)
                object_file = Builder(gcc, lambda _: units, folder / "units").object(["-O0"])
            except CompilerError as error:
                raise BenchmarkInitError(f"the program does not compile at -O0: {error}") from error
            shutil.rmtree(folder / "sources", ignore_errors=True)
            return _link(gcc_bin, object_file, folder, libraries)

    return Reference(build, RunLimits(seconds=seconds))
