# SPDX-License-Identifier: MIT
"""Programs from a user's own files and texts. Nothing is compiled before an episode starts."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from compiler_gym.datasets import Benchmark, BenchmarkSource, BenchmarkUri, RunSpec
from compiler_gym.envs.gcc.programs.source import LANGUAGES, SourceProgram, collect, pack
from compiler_gym.errors import BenchmarkInitError, BenchmarkTypeError

__all__ = ["make_benchmark", "make_benchmark_from", "make_benchmark_from_source"]


def make_benchmark(
    inputs: "str | Path | list[str | Path]",
    copt: Iterable[str] | None = None,
    *,
    run: RunSpec | None = None,
) -> Benchmark:
    """Return a program made of C or C++ files and the headers they include.

    `copt` are flags that the sources need, such as ``-Iinclude`` and ``-DNDEBUG``;
    `run` says how to run the program. Raises `BenchmarkNotFoundError` when a file is
    missing, and `BenchmarkTypeError` for inputs of another kind; one that does not compile
    is refused by `reset`.
    """
    items = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    if not items:
        raise BenchmarkInitError("expected at least one file, found none")
    for item in items:
        if not isinstance(item, (str, Path)):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
            raise BenchmarkTypeError(f"expected a path, found {type(item).__name__}: {item!r}")
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
    suffix = next((ending for ending, known in LANGUAGES.items() if known == lang), None)
    if suffix is None:
        raise BenchmarkInitError(
            f"lang is {lang!r}: expected one of {', '.join(sorted(set(LANGUAGES.values())))}"
        )
    name = f"src{suffix}"
    text = source.encode() if isinstance(source, str) else source
    return make_benchmark_from(SourceProgram((name,), {name: text}, tuple(copt or ())), run=run)


def make_benchmark_from(
    program: SourceProgram, uri: BenchmarkUri | str | None = None, *, run: RunSpec | None = None
) -> Benchmark:
    """Return `program` as a benchmark, named after what it holds unless it has a name."""
    contents = pack(program)
    if uri is None:
        uri = f"benchmark://user-v0/{hashlib.sha256(contents).hexdigest()[:16]}"
    sources = [BenchmarkSource(name, text) for name, text in program.files.items()]
    return Benchmark(uri, contents, sources=sources, run=run)
