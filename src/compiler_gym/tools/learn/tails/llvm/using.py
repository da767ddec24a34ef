# SPDX-License-Identifier: MIT
"""Use a model on a module: one base, a look at each function, and a few tails for each."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import process_time

from compiler_gym.tools.learn.tails.llvm import engine
from compiler_gym.tools.learn.tails.model import TailModel
from compiler_gym.tools.learn.tails.workers import call_each

__all__ = ["MODEL", "Improved", "improve", "improve_here"]

MODEL = Path(__file__).with_name("model.json.xz")
"""The model that comes with the library."""


@dataclass(frozen=True, slots=True)
class Improved:
    """A module after ``clang -Oz`` and the best tail of each function."""

    bitcode: bytes
    base_instructions: int
    """After ``clang -Oz``."""
    instructions: int
    """Never more than `base_instructions`."""
    base_seconds: float
    """Processor time of the pipeline of ``clang -Oz``."""
    seconds: float
    """Processor time of everything, the pipeline included."""


def improve(module: bytes, model: Path, tries: int = 8) -> Improved | None:
    """Return a module after ``clang -Oz`` and the best of `tries` tails for each function.

    `module` is bitcode before any pass. None means that the compiler crashed or took too long.
    """
    (improved,) = call_each(improve_here, [(module, model, tries)], jobs=1)
    return improved


def improve_here(module: bytes, model: Path, tries: int) -> Improved:
    """Like `improve`, with the compiler in this process."""
    known = _load(model)
    start = process_time()
    base = engine.make_base(module)
    base_seconds = process_time() - start
    read = engine.read(base)
    described, probed = engine.label(read, known.probes)
    choices = known.choose(described.instructions, described.features, probed, tries)
    bitcode, before, after = engine.keep_smallest(
        base, dict(zip(described.names, choices, strict=True)), read
    )
    return Improved(bitcode, before, after, base_seconds, process_time() - start)


@cache
def _load(path: Path) -> TailModel:
    return TailModel.load(path)
