# SPDX-License-Identifier: MIT
"""Decisions in the IR: to list them, and to make one, beside what LLVM takes to edit the IR."""

import re
from collections.abc import Callable
from pathlib import Path
from time import process_time

from benchmarks.measure import Figure
from compiler_gym import _llvm

__all__ = ["measure"]

PROGRAM = Path(__file__).parents[1] / "programs/ghostscript/ghostscript.bc"
TURNS, MARKS = 15, 400
CALL, DEFAULT, NEVER = 0, 0, 2


def measure() -> list[Figure]:
    """Return the processor time of both, the least of several turns."""
    data = _llvm.link_modules([_renamed(PROGRAM.read_bytes(), prefix) for prefix in ("a.", "b.")])
    module = _llvm.Module(data)
    marks = _llvm.Marks(module)
    marks.number()
    module.run("no-op-module")  # from now on changes are looked for
    size = f"{module.instruction_count():,} instructions, {len(marks.points()):,} decisions"
    listing = min(_seconds(_llvm.Marks(module).points) for _ in range(TURNS))
    marking = min(_marking(marks) for _ in range(TURNS))
    return [
        Figure(f"{size}: to list them", listing * 1e3, "ms", 20.0),
        Figure(f"{size}: to make one, the edit of the IR too", marking * 1e6, "us", 30.0),
    ]


def _renamed(data: bytes, prefix: str) -> bytes:
    """Return the program with other names for what it defines, so that it links with itself."""
    text = _llvm.Module(data).text()
    defined = set(re.findall(r"^define [^@]*@([\w.$-]+)\(", text, re.MULTILINE))
    defined |= set(re.findall(r"^@([\w.$-]+) = (?!external)", text, re.MULTILINE))

    def name(found: re.Match[str]) -> str:
        return f"@{prefix}{found[1]}" if found[1] in defined else found[0]

    return _llvm.Module(re.sub(r"@([\w.$-]+)", name, text).encode()).bitcode()


def _marking(marks: _llvm.Marks) -> float:
    """Return the seconds of one mark: calls are told never and default in turn."""
    ids = [id for kind, id, _, _ in marks.points() if kind == CALL][:MARKS]
    never = _seconds(lambda: [marks.choose(CALL, id, NEVER) for id in ids])
    default = _seconds(lambda: [marks.choose(CALL, id, DEFAULT) for id in ids])
    return (never + default) / (2 * len(ids))


def _seconds(call: Callable[[], object]) -> float:
    started = process_time()
    call()
    return process_time() - started
