# SPDX-License-Identifier: MIT
"""Finds programs: a URI, a path on this machine, or pasted text."""

import os
from pathlib import Path

from compiler_gym.core import CompilerEnv
from compiler_gym.datasets import Benchmark, BenchmarkUri, path_and_query, quote_path
from compiler_gym.errors import BenchmarkInitError, BenchmarkNotFoundError, ExplorerError
from compiler_gym.files import scratch_directory
from compiler_gym.registration import Compiler, ProgramFormat
from compiler_gym.tools.explorer.records import Source

__all__ = [
    "detect_format",
    "local_path",
    "open_named_program",
    "open_pasted_program",
    "read_source",
]

_MOST_QUOTED_PATH = 300
_PASTED = "benchmark://pasted-v0/"
"""The dataset of pasted programs."""


def open_named_program(env: CompilerEnv, name: str, compiler: Compiler | None = None) -> Benchmark:
    """Return the program at a URI or a path; a path may have a query as a URI does.

    A file is read only if its name has a program's suffix: a compiler's errors quote the file.
    """
    if name.startswith(_PASTED):
        raise BenchmarkNotFoundError(
            f"{name} was pasted elsewhere: expected its source, which a permanent link holds"
        )
    path, query = path_and_query(name)
    _require_suffix(compiler, name, path)
    if "://" in name or not (path.startswith(("/", "./", "../", "~")) or os.path.exists(path)):
        return env.datasets.benchmark(name)
    file = local_path(path)
    if not os.path.exists(file):
        raise BenchmarkNotFoundError(f"no such file: {path[:_MOST_QUOTED_PATH]!r}")
    return env.datasets.benchmark(f"file://{quote_path(str(file))}{query}")


def _require_suffix(compiler: Compiler | None, name: str, path: str) -> None:
    is_address = name.lower().startswith("file:")
    if compiler is None or not (is_address or os.path.isfile(local_path(path))):
        return
    path = BenchmarkUri.from_string(name).path if is_address else path
    suffixes = [suffix for one in compiler.formats for suffix in one.suffixes]
    if suffixes and not path.endswith(tuple(suffixes)):
        known = ", ".join(suffixes)
        raise BenchmarkInitError(
            f"cannot tell what {path[:_MOST_QUOTED_PATH]!r} is: expected a name ending in {known}"
        )


def local_path(text: str) -> Path:
    """Return the absolute path, whether it exists or not."""
    if "\0" in text:
        raise ExplorerError(f"path is {text[:_MOST_QUOTED_PATH]!r}: expected one without a NUL")
    return Path(os.path.abspath(os.path.expanduser(text)))


def open_pasted_program(env: CompilerEnv, compiler: Compiler | None, source: Source) -> Benchmark:
    """Return the program in `source`; raise `BenchmarkInitError` if it is not one."""
    if not source.text.strip():
        raise BenchmarkInitError("the program is empty: expected its text")
    known = detect_format(compiler, source)
    if env.panes.paste is not None:
        return env.panes.paste(source.text, known.name, source.name)
    with scratch_directory("programs") as folder:
        path = Path(folder) / f"pasted{known.suffixes[0]}"
        path.write_text(source.text, encoding="utf-8")
        program = env.datasets.benchmark(f"file://{quote_path(str(path))}")
    return program.with_uri(BenchmarkUri.from_string("benchmark://user-v0/pasted"))


def detect_format(compiler: Compiler | None, source: Source) -> ProgramFormat:
    """Return the format of `source`: the one that it names, or one detected from its text."""
    formats = () if compiler is None else compiler.formats
    names = ", ".join(one.name for one in formats) or "a program of the environment's datasets"
    if source.language is not None:
        wanted = source.language.lower()
        for one in formats:
            if wanted in (one.name.lower(), *(suffix.lstrip(".") for suffix in one.suffixes)):
                return one
        raise BenchmarkInitError(f"language is {source.language!r}: expected one of {names}")
    contents = source.text.encode()
    told = sorted(formats, key=lambda one: one.pattern is None)
    for one in told:
        if one.pattern is None or one.pattern.search(contents):
            return one
    raise BenchmarkInitError(f"cannot tell what was pasted: expected {names}")


def read_source(program: Benchmark) -> str:
    """Return the source text of a program, its files joined; empty if it has none."""
    texts = [(one.filename, one.contents.decode(errors="replace")) for one in program.sources]
    if len(texts) == 1:
        return texts[0][1]
    return "\n".join(f"/* {name} */\n{text}" for name, text in texts)
