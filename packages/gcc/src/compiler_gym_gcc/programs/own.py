# SPDX-License-Identifier: MIT
"""Programs from a user's own files and texts; they are compiled when an episode starts."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from compiler_gym.datasets import Benchmark, BenchmarkSource, BenchmarkUri, RunSpec
from compiler_gym.errors import BenchmarkInitError, BenchmarkTypeError
from compiler_gym_gcc.programs.source import LANGUAGES, SourceProgram, collect, pack

__all__ = ["make_benchmark", "make_benchmark_from", "make_benchmark_from_source"]


def make_benchmark(
    inputs: "str | Path | list[str | Path]",
    copt: Iterable[str] | None = None,
    *,
    run: RunSpec | None = None,
) -> Benchmark:
    """Return a program made from C or C++ files and the headers that they include.

    `copt` are flags that the sources need, such as ``-Iinclude`` and ``-DNDEBUG``; `run` describes
    how to run the program. Raises `BenchmarkNotFoundError` if a file is missing and
    `BenchmarkTypeError` for inputs of any other type. If the program does not compile, `reset`
    raises the error.
    """
    items = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    if not items:
        raise BenchmarkInitError("no input files; pass at least one")
    for item in items:
        if not isinstance(item, (str, Path)):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
            raise BenchmarkTypeError(f"inputs must be paths (got {type(item).__name__}: {item!r})")
    return make_benchmark_from(
        collect([Path(item).expanduser() for item in items], copt or ()), run=run
    )


def make_benchmark_from_source(
    source: str | bytes,
    copt: Iterable[str] | None = None,
    lang: str = "c",
    *,
    run: RunSpec | None = None,
) -> Benchmark:
    """Return a program from source text in the language `lang`, ``"c"`` or ``"c++"``."""
    suffix = next((suffix for suffix, name in LANGUAGES.items() if name == lang), None)
    if suffix is None:
        raise BenchmarkInitError(
            f"no language {lang!r}; choose from {', '.join(sorted(set(LANGUAGES.values())))}"
        )
    name = f"src{suffix}"
    text = source.encode() if isinstance(source, str) else source
    return make_benchmark_from(SourceProgram((name,), {name: text}, tuple(copt or ())), run=run)


def make_benchmark_from(
    program: SourceProgram, uri: BenchmarkUri | str | None = None, *, run: RunSpec | None = None
) -> Benchmark:
    """Return `program` as a benchmark, by default named after a hash of its contents."""
    contents = pack(program)
    if uri is None:
        uri = f"benchmark://user-v0/{hashlib.sha256(contents).hexdigest()[:16]}"
    sources = [BenchmarkSource(name, text) for name, text in program.files.items()]
    return Benchmark(uri, contents, sources=sources, run=run)
