# SPDX-License-Identifier: MIT
"""Use a model on a module: one base, a look at each function, and a few tails for each."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import process_time

from compiler_gym.tools.learn.tails.llvm import engine
from compiler_gym.tools.learn.tails.model import TailModel
from compiler_gym.tools.learn.tails.options import TailGoal
from compiler_gym.tools.learn.tails.workers import call_each

__all__ = ["MODELS", "Improved", "improve", "improve_here"]

MODELS = {
    TailGoal.INSTRUCTIONS: Path(__file__).with_name("model.json.xz"),
    TailGoal.BYTES: Path(__file__).with_name("bytes.json.xz"),
}
"""The models that come with the library. The one for bytes is a fixed order of tails."""


@dataclass(frozen=True, slots=True)
class Improved:
    """A module after ``clang -Oz`` and the best tail of each function."""

    bitcode: bytes
    goal: TailGoal
    """The unit of `before` and `after`."""
    before: int
    """The size after ``clang -Oz``."""
    after: int
    """Never more than `before`."""
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
    named = dict(zip(described.names, choices, strict=True))
    kept = (
        engine.keep_fewest_bytes(base, named)
        if known.goal == TailGoal.BYTES
        else engine.keep_smallest(base, named, read)
    )
    bitcode, before, after = kept
    return Improved(bitcode, known.goal, before, after, base_seconds, process_time() - start)


@cache
def _load(path: Path) -> TailModel:
    return TailModel.load(path)
