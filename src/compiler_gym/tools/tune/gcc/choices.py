# SPDX-License-Identifier: MIT
"""Tables of GCC options that may make a program faster, or make its cold code smaller.

None of them changes the required CPU features, floating-point results or linked libraries.
"""

from compiler_gym.tools.tune import Choice

__all__ = ["CHOICES", "FAST", "FRONT", "FRONT_BASE"]

FAST = ("-O3", "-flto", "-ffunction-sections", "-fdata-sections")
"""Base flags of all plans for speed."""
_SAME_INLINING = "--param=early-inlining-insns=14"
"""Inlines as -O3 does before profiling; otherwise a profile made at -O3 would not match."""
_O2 = ("-O2", _SAME_INLINING)


def _hottest(thousandths: int) -> str:
    """Return the option that considers only the top `thousandths` of all counts hot."""
    return f"--param=hot-bb-count-ws-permille={thousandths}"


CHOICES = tuple(
    Choice(flags)
    for flags in (
        ("-flto-partition=one",),
        ("-fno-tree-slp-vectorize",),
        _O2,
        ("-fipa-pta",),
        ("-fno-tree-loop-vectorize", "-fno-tree-slp-vectorize"),
        ("-fprofile-partial-training",),
        (_hottest(999),),
        ("-fno-unroll-loops",),
        ("-fno-ivopts",),
        ("-fno-if-conversion", "-fno-if-conversion2"),
        ("-fno-tracer",),
        ("-fno-reorder-blocks-and-partition",),
        ("-fira-region=all",),
        ("-flive-range-shrinkage",),
        ("-frename-registers",),
        ("-fno-schedule-insns2",),
        ("-fschedule-insns", "-fsched-pressure"),
        ("--param=max-inline-insns-auto=60",),
        ("--param=inline-unit-growth=100",),
        ("-fno-gcse",),
        ("-fgcse-las", "-fgcse-sm"),
        ("-fno-tree-pre",),
        ("-fno-jump-tables",),
        ("-falign-functions=32", "-falign-loops=32"),
        ("-fno-split-paths",),
        ("-fno-peel-loops",),
        ("--param=max-unrolled-insns=400",),
        ("-fira-loop-pressure",),
        ("-fweb",),
    )
)
"""Flags to try, in this order."""
FRONT = {
    "hot-90": Choice((_hottest(900),)),
    "hot-99-O2": Choice(_O2),
    "hot-50-O2": Choice((*_O2, _hottest(500))),
    "hot-90-O2": Choice((*_O2, _hottest(900))),
    "hot-99.9": Choice((_hottest(999),)),
    "hot-50": Choice((_hottest(500),)),
}
"""Candidates for the front besides a plain profiled build; GCC shrinks code that is not hot."""
FRONT_BASE = "hot-90"
"""The start of a search for the fastest build."""
