# SPDX-License-Identifier: MIT
"""The explorer's views of a program: its assembly, source, sizes and choices."""

import hashlib
from pathlib import Path

from compiler_gym.core import Listing, Panes, TextPane, cost_panes
from compiler_gym.datasets import Benchmark, BenchmarkUri
from compiler_gym.errors import BenchmarkInitError
from compiler_gym_gcc.observations import TABLE
from compiler_gym_gcc.programs.own import make_benchmark_from_source

__all__ = ["ASSEMBLY", "PANES", "make_pasted"]

ASSEMBLY = Listing(
    "gas", "#", begin=r"\s*\.type\s+([^\s,]+), *[@%]function", end=r"\s*\.size\s+[^,]+, *\.-"
)
"""The syntax of assembly listings."""
_LANGUAGES = {"C": "c", "C++": "c++"}
_RUNS = ("runtime", "runtime_seconds", "runtime_instructions")


def make_pasted(text: str, language: str, name: str) -> Benchmark:
    """Return the program in `text`, which is untrusted, so sessions compile it in a sandbox.

    Raises `BenchmarkInitError` for a language other than C and C++.
    """
    if language not in _LANGUAGES:
        raise BenchmarkInitError(f"no language {language!r}; choose from {', '.join(_LANGUAGES)}")
    if not text.strip():
        raise BenchmarkInitError("the program is empty; paste C or C++")
    program = make_benchmark_from_source(text, lang=_LANGUAGES[language])
    digest = hashlib.sha256(program.contents).hexdigest()[:16]
    pasted = program.with_uri(BenchmarkUri.from_string(f"benchmark://pasted-v0/{digest}"))
    suffix = ".c" if language == "C" else ".cc"
    pasted.add_source((f"{Path(name).stem or 'pasted'}{suffix}", text.encode()))
    return pasted


PANES = Panes(
    text=TextPane("asm", ASSEMBLY, title="Assembly"),
    source=TextPane("source"),
    costs=cost_panes(
        TABLE.costs,
        {
            "obj_size": "object size",
            "text_size": "text size",
            "asm_size": "assembly size",
            "runtime_instructions": "instructions run",
        },
    ),
    vectors={"choices": ()},
    running=frozenset(
        name
        for row in TABLE.costs
        if row.observation in _RUNS
        for name in (row.observation, row.initial, *row.baselines)
    )
    | {"runtime"},
    paste=make_pasted,
)
"""All views of a GCC program."""
