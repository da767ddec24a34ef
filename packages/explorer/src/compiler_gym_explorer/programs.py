# SPDX-License-Identifier: MIT
"""Programs from a URI, a path on this machine, or pasted text."""

import os
from pathlib import Path

from compiler_gym.core import CompilerEnv
from compiler_gym.datasets import Benchmark, BenchmarkUri, path_and_query, quote_path
from compiler_gym.errors import BenchmarkInitError, BenchmarkNotFoundError, ExplorerError
from compiler_gym.files import scratch_directory
from compiler_gym.registration import Compiler, ProgramFormat
from compiler_gym_explorer.records import Source

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
    """Return the program at a URI or a path, which may have a query, like a URI.

    A file is read only if its name has a program's suffix, because compiler errors would quote
    the contents of other files.
    """
    if name.startswith(_PASTED):
        raise BenchmarkNotFoundError(
            f"{name} was pasted in another session; open it from its permanent link"
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
    suffixes = [suffix for known in compiler.formats for suffix in known.suffixes]
    if suffixes and not path.endswith(tuple(suffixes)):
        raise BenchmarkInitError(
            f"unknown format of {path[:_MOST_QUOTED_PATH]!r}: its name must end in "
            f"{', '.join(suffixes)}"
        )


def local_path(text: str) -> Path:
    """Return the absolute path, which need not exist."""
    if "\0" in text:
        raise ExplorerError(f"the path {text[:_MOST_QUOTED_PATH]!r} contains a NUL character")
    return Path(os.path.abspath(os.path.expanduser(text)))


def open_pasted_program(env: CompilerEnv, compiler: Compiler | None, source: Source) -> Benchmark:
    """Return the program in `source`; raise `BenchmarkInitError` if it is not one."""
    if not source.text.strip():
        raise BenchmarkInitError("the program is empty; paste its text")
    detected = detect_format(compiler, source)
    if env.panes.paste is not None:
        return env.panes.paste(source.text, detected.name, source.name)
    with scratch_directory("programs") as folder:
        path = Path(folder) / f"pasted{detected.suffixes[0]}"
        path.write_text(source.text, encoding="utf-8")
        program = env.datasets.benchmark(f"file://{quote_path(str(path))}")
    return program.with_uri(BenchmarkUri.from_string("benchmark://user-v0/pasted"))


def detect_format(compiler: Compiler | None, source: Source) -> ProgramFormat:
    """Return the format of `source`: by its language, or else detected from its text."""
    formats = () if compiler is None else compiler.formats
    names = ", ".join(known.name for known in formats) or "a program of the environment's datasets"
    if source.language is not None:
        language = source.language.lower()
        for known in formats:
            if language in (known.name.lower(), *(s.lstrip(".") for s in known.suffixes)):
                return known
        raise BenchmarkInitError(f"unknown language {source.language!r}: use one of {names}")
    contents = source.text.encode()
    for known in sorted(formats, key=lambda known: known.pattern is None):
        if known.pattern is None or known.pattern.search(contents):
            return known
    raise BenchmarkInitError(f"unknown format of the pasted text: use {names}")


def read_source(program: Benchmark) -> str:
    """Return the joined source files of a program; empty if it has none."""
    texts = [(file.filename, file.contents.decode(errors="replace")) for file in program.sources]
    if len(texts) == 1:
        return texts[0][1]
    return "\n".join(f"/* {name} */\n{text}" for name, text in texts)
