# SPDX-License-Identifier: MIT
"""Decisions to try in addition to a level: an extra pass, or a code generator option.

The text of a decision is ``PIPELINE`` or ``PIPELINE | OPTIONS``: the passes for ``opt``, including
the level itself, and the options for ``llc``. Nothing is compiled here.
"""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib.resources import files

from compiler_gym.envs.llvm.toolchain import split_pipeline

__all__ = ["HuntGoal", "HuntedDecision", "decisions_for"]

_FIRST = ("loop-simplify", "lcssa", "break-crit-edges", "instcombine", "simplifycfg", "early-cse")
"""Passes that others run first; they are tried first, so that they get the credit."""
_KINDS = ("function", "loop", "loopnest")
_CLEANING = ("function(instcombine<no-verify-fixpoint>)", "function(simplifycfg)", "function(gvn)")
_NEVER_SMALLER = ("vectorize", "unroll", "versioning", "interchange", "irce", "unswitch<", "<O3")
"""Parts of the names of passes that grow code, or that only run other passes first."""
_BLAMED = (
    *("apply-ext-tsp-for-size=true", "disable-block-placement=true", "aggressive-ext-opt=true"),
    *("disable-lsr=true", "lsr-drop-solution=true", "lsr-insns-cost=false"),
    *("disable-machine-licm=true", "disable-machine-cse=true", "hoist-cheap-insts=true"),
    *("disable-machine-sink=true", "machine-sink-split=false", "force-precise-rotation-cost=true"),
    *("phi-elim-split-all-critical-edges=true", "x86-br-merging-base-cost=-1"),
    *("x86-cmov-converter-force-all=true", "x86-early-ifcvt=true"),
)
"""Code generator options that override one choice of one pass. Schedulers and allocators, which
help some functions and hurt others, are excluded, as are options that move code to tables."""


class HuntGoal(Enum):
    """The cost that a hunt minimises."""

    SIZE = "size"
    INSTRUCTIONS = "instructions"
    CYCLES = "cycles"

    @property
    def level(self) -> str:
        """The pipeline to compare with."""
        return "default<O3>" if self is HuntGoal.CYCLES else "default<Oz>"

    @property
    def least(self) -> float:
        """The smallest saving of a finding: bytes, instructions, or a fraction of the cycles."""
        return {HuntGoal.SIZE: 3.0, HuntGoal.INSTRUCTIONS: 1.0, HuntGoal.CYCLES: 0.05}[self]

    @property
    def unit(self) -> str:
        """The unit of the cost."""
        return {
            HuntGoal.SIZE: "bytes",
            HuntGoal.INSTRUCTIONS: "IR instructions",
            HuntGoal.CYCLES: "cycles",
        }[self]


@dataclass(frozen=True, slots=True)
class HuntedDecision:
    """The passes for ``opt``, including the level, and the options for ``llc``.

    >>> str(HuntedDecision(("default<Oz>",), ("disable-lsr=true",)))
    'default<Oz> | disable-lsr=true'
    """

    passes: tuple[str, ...]
    codegen: tuple[str, ...] = ()

    @classmethod
    def read(cls, text: str) -> "HuntedDecision":
        """Return the decision with the text `text`, as written with `str`."""
        pipeline, _, options = text.partition(" | ")
        return cls(tuple(split_pipeline(pipeline)), tuple(options.split()))

    def __str__(self) -> str:
        return " | ".join(filter(None, (self.pipeline, " ".join(self.codegen))))

    @property
    def pipeline(self) -> str:
        """The argument of ``opt -passes``."""
        return ",".join(self.passes)

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps that the engine runs, in order."""
        return (self.pipeline, *(f"codegen<{option}>" for option in self.codegen))

    def command(self, program: str, *, version: str = "") -> str:
        """Return the shell command that compiles `program` to an object."""
        options = "".join(f" --{option}" for option in self.codegen)
        return (
            f"opt{version} -passes={shlex.quote(self.pipeline)} {program} -o - | "
            f"llc{version} -filetype=obj{options} -o {program.removesuffix('.ll')}.o"
        )


def decisions_for(goal: HuntGoal) -> Iterator[HuntedDecision]:
    """Yield the decisions to try for `goal`, the simplest first."""
    for name in _passes():
        yield HuntedDecision((goal.level, name))
    for name in _passes():
        yield HuntedDecision((name, goal.level))
    if goal is not HuntGoal.INSTRUCTIONS:
        for option in _BLAMED:
            yield HuntedDecision((goal.level,), (option,))


def then_cleaned(decision: HuntedDecision) -> Iterator[HuntedDecision]:
    """Yield variants of `decision` with an additional clean-up pass."""
    for cleaner in _CLEANING:
        if decision.passes[-1] != cleaner:
            yield HuntedDecision((*decision.passes, cleaner), decision.codegen)


@cache
def _passes() -> tuple[str, ...]:
    text = files("compiler_gym.envs.llvm").joinpath("passes.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines() if line and line[0] != "#"][1:]
    passes = [
        row[2]
        for row in rows
        if row[1] in _KINDS
        and row[3] == "core"
        and not any(part in row[0] for part in _NEVER_SMALLER)
    ]
    first = [f"function({name})" for name in _FIRST]
    return tuple(sorted(dict.fromkeys(passes), key=lambda text: (text not in first, len(text))))
