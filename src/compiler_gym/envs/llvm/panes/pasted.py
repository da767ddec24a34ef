# SPDX-License-Identifier: MIT
"""Programs from pasted text: compiled in a sandbox, with line tables, and never run here."""

import hashlib
from pathlib import Path

from compiler_gym.builds import IR_SUFFIXES, SOURCE_LANGUAGES
from compiler_gym.datasets import Benchmark, BenchmarkSource
from compiler_gym.envs.llvm.programs.source import ClangInvocation
from compiler_gym.errors import BenchmarkInitError

__all__ = ["make_pasted"]

_COMPILE_LIMIT_SECONDS = 60.0
_LINES = (
    *("-Xclang", "-debug-info-kind=line-tables-only", "-Xclang", "-dwarf-version=5"),
    "-ffile-compilation-dir=.",
)
"""Front-end options for line tables, which ``-g0`` does not override, without local paths."""


def make_pasted(text: str, language: str, name: str) -> Benchmark:
    """Return the program in `text`; `language` is the name of a format.

    Raises `BenchmarkInitError` with clang's diagnostics.
    """
    contents = text.encode()
    if not text.strip():
        raise BenchmarkInitError("the program is empty; paste C, C++ or IR")
    suffix = _SUFFIXES.get(language, "")
    if suffix not in IR_SUFFIXES:
        if suffix not in SOURCE_LANGUAGES:
            raise BenchmarkInitError(
                f"no language {language!r}; choose from {', '.join(_SUFFIXES)}"
            )
        arguments = (*_LINES, "-x", SOURCE_LANGUAGES[suffix], "-")
        clang = ClangInvocation(arguments, timeout=_COMPILE_LIMIT_SECONDS, is_own=False)
        contents = clang.run(text.encode("utf-8", "surrogateescape"))
    digest = hashlib.sha256(contents).hexdigest()[:16]
    benchmark = Benchmark.from_file_contents(f"benchmark://pasted-v0/{digest}", contents)
    filename = f"{Path(name).stem or 'pasted'}{suffix}"
    benchmark.add_source(BenchmarkSource(filename, text.encode("utf-8", "surrogateescape")))
    return benchmark


_SUFFIXES = {"C": ".c", "C++": ".cc", "IR": ".ll"}
"""The file suffix of each format."""
