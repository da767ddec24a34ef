# SPDX-License-Identifier: MIT
"""Tables of what may make a program faster with GCC, or smaller where its profile says cold.

None changes what machine the program needs, how floating point behaves, or what it links to.
"""

from compiler_gym.tools.tune import Choice

__all__ = ["CHOICES", "FAST", "FRONT", "FRONT_BASE"]

FAST = ("-O3", "-flto", "-ffunction-sections", "-fdata-sections")
"""What a plan for speed compiles with without any choice."""
_SAME_INLINING = "--param=early-inlining-insns=14"
"""What -O3 inlines before it counts: a profile of -O3 fits no function that has inlined less."""
_O2 = ("-O2", _SAME_INLINING)


def _hottest(thousandths: int) -> str:
    """Return what makes hot the blocks of the most frequent counts alone, so many of all."""
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
"""In the order in which they are tried."""
FRONT = {
    "hot-90": Choice((_hottest(900),)),
    "hot-99-O2": Choice(_O2),
    "hot-50-O2": Choice((*_O2, _hottest(500))),
    "hot-90-O2": Choice((*_O2, _hottest(900))),
    "hot-99.9": Choice((_hottest(999),)),
    "hot-50": Choice((_hottest(500),)),
}
"""What a front is chosen of, besides the profile alone: GCC makes small what is not hot."""
FRONT_BASE = "hot-90"
"""The one that a search for the fastest begins with."""
