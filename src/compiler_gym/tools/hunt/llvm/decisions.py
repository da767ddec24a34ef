# SPDX-License-Identifier: MIT
"""What is tried beside a level: one more pass, another order, one option of the code generator.

A decision is a text, ``PIPELINE`` or ``PIPELINE | OPTIONS``, where the pipeline holds the level's
own: what ``opt`` runs, and what ``llc`` is told. Nothing is compiled here.
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
"""Passes that others run first: what these do by themselves is not put down to the others."""
_KINDS = ("function", "loop", "loopnest")
_CLEANING = ("function(instcombine<no-verify-fixpoint>)", "function(simplifycfg)", "function(gvn)")
_NEVER_SMALLER = ("vectorize", "unroll", "versioning", "interchange", "irce", "unswitch<", "<O3")
"""Parts of names of passes that grow code, or do nothing at this level but what others do first."""
_BLAMED = (
    *("apply-ext-tsp-for-size=true", "disable-block-placement=true", "aggressive-ext-opt=true"),
    *("disable-lsr=true", "lsr-drop-solution=true", "lsr-insns-cost=false"),
    *("disable-machine-licm=true", "disable-machine-cse=true", "hoist-cheap-insts=true"),
    *("disable-machine-sink=true", "machine-sink-split=false", "force-precise-rotation-cost=true"),
    *("phi-elim-split-all-critical-edges=true", "x86-br-merging-base-cost=-1"),
    *("x86-cmov-converter-force-all=true", "x86-early-ifcvt=true"),
)
"""Options of the code generator that take one choice from one pass. Left out are schedulers and
allocators, of which each wins here and loses there, and what moves bytes from code to tables."""


class HuntGoal(Enum):
    """What a level is to leave little of."""

    SIZE = "size"
    INSTRUCTIONS = "instructions"
    CYCLES = "cycles"

    @property
    def level(self) -> str:
        """The pipeline that the goal is measured against."""
        return "default<O3>" if self is HuntGoal.CYCLES else "default<Oz>"

    @property
    def least(self) -> float:
        """The saving below which nothing is a finding: bytes, instructions, or a share of time."""
        return {HuntGoal.SIZE: 3.0, HuntGoal.INSTRUCTIONS: 1.0, HuntGoal.CYCLES: 0.05}[self]

    @property
    def unit(self) -> str:
        """What is counted."""
        return {
            HuntGoal.SIZE: "bytes",
            HuntGoal.INSTRUCTIONS: "IR instructions",
            HuntGoal.CYCLES: "cycles",
        }[self]


@dataclass(frozen=True, slots=True)
class HuntedDecision:
    """What ``opt`` runs, the level among it, and what ``llc`` is told.

    >>> str(HuntedDecision(("default<Oz>",), ("disable-lsr=true",)))
    'default<Oz> | disable-lsr=true'
    """

    passes: tuple[str, ...]
    codegen: tuple[str, ...] = ()

    @classmethod
    def read(cls, text: str) -> "HuntedDecision":
        """Return the decision that `str` wrote."""
        pipeline, _, options = text.partition(" | ")
        return cls(tuple(split_pipeline(pipeline)), tuple(options.split()))

    def __str__(self) -> str:
        return " | ".join(filter(None, (self.pipeline, " ".join(self.codegen))))

    @property
    def pipeline(self) -> str:
        """What ``opt -passes`` takes."""
        return ",".join(self.passes)

    @property
    def steps(self) -> tuple[str, ...]:
        """What the engine runs, one after the other."""
        return (self.pipeline, *(f"codegen<{one}>" for one in self.codegen))

    def command(self, program: str, *, version: str = "") -> str:
        """Return the shell command that makes an object of `program`."""
        options = "".join(f" --{one}" for one in self.codegen)
        return (
            f"opt{version} -passes={shlex.quote(self.pipeline)} {program} -o - | "
            f"llc{version} -filetype=obj{options} -o {program.removesuffix('.ll')}.o"
        )


def decisions_for(goal: HuntGoal) -> Iterator[HuntedDecision]:
    """Yield what is tried alone, the simplest first."""
    for one in _passes():
        yield HuntedDecision((goal.level, one))
    for one in _passes():
        yield HuntedDecision((one, goal.level))
    if goal is not HuntGoal.INSTRUCTIONS:
        for one in _BLAMED:
            yield HuntedDecision((goal.level,), (one,))


def then_cleaned(decision: HuntedDecision) -> Iterator[HuntedDecision]:
    """Yield `decision` with one pass more that may clean up behind it."""
    for one in _CLEANING:
        if decision.passes[-1] != one:
            yield HuntedDecision((*decision.passes, one), decision.codegen)


@cache
def _passes() -> tuple[str, ...]:
    text = files("compiler_gym.envs.llvm").joinpath("passes.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines() if line and line[0] != "#"][1:]
    found = [
        row[2]
        for row in rows
        if row[1] in _KINDS
        and row[3] == "core"
        and not any(part in row[0] for part in _NEVER_SMALLER)
    ]
    first = [f"function({name})" for name in _FIRST]
    return tuple(sorted(dict.fromkeys(found), key=lambda one: (one not in first, len(one))))
