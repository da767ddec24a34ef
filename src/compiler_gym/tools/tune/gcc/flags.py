# SPDX-License-Identifier: MIT
"""GCC options that can be changed without changing the meaning of a program.

All options are listed explicitly, so options of a newer GCC are ignored until they are reviewed
and added. `REFUSED` gives the reason for each option that is excluded.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache

from compiler_gym.envs.gcc import GccFlagAlignOption, GccFlagOption, Option

__all__ = [
    "FLAGS",
    "LEVELS",
    "LINK_TIME",
    "REFUSED",
    "SECTIONS",
    "choices",
    "find_option",
    "possible",
]

LEVELS = ("-Oz", "-O2", "-O1")
"""Levels to try instead of -Os."""
LINK_TIME = ("-flto", "-flto-partition=one")
"""Flags for link-time optimisation. ``-fwhole-program`` is not needed, because the linker plugin
reports which symbols are used elsewhere, and it would remove symbols that a program exports."""
SECTIONS = ("-ffunction-sections", "-fdata-sections")
"""Allow the linker to discard individual functions and variables."""

FLAGS = (
    # Inlining and outlining affect the size most.
    "inline-small-functions", "inline-functions-called-once", "inline-functions",
    "early-inlining", "indirect-inlining", "partial-inlining", "ipa-cp", "ipa-cp-clone",
    "ipa-sra", "ipa-icf", "ipa-icf-functions", "ipa-icf-variables", "ipa-ra", "ipa-pta",
    "ipa-vrp", "ipa-bit-cp", "ipa-modref", "ipa-pure-const", "ipa-reference",
    "ipa-reference-addressable", "ipa-profile", "ipa-stack-alignment", "ipa-strict-aliasing",
    "devirtualize", "devirtualize-speculatively", "inline",
    # Copying, moving and merging code in the middle end.
    "tree-ch", "ivopts", "tree-switch-conversion", "jump-tables", "bit-tests", "tree-pre",
    "tree-partial-pre", "code-hoisting", "tree-sra", "tree-dominator-opts", "tree-vrp",
    "tree-fre", "tree-ter", "tree-loop-im", "tree-loop-ivcanon", "tree-loop-optimize",
    "tree-loop-distribute-patterns", "tree-loop-distribution", "tree-loop-if-convert",
    "tree-scev-cprop", "tree-sink", "tree-slsr", "tree-tail-merge", "tree-reassoc",
    "tree-phiprop", "tree-coalesce-vars", "tree-copy-prop", "tree-ccp", "tree-bit-ccp",
    "tree-forwprop", "tree-dse", "tree-dce", "tree-pta", "tree-cselim", "tree-lrs",
    "tree-builtin-call-dce", "tree-slp-vectorize", "tree-loop-vectorize", "ssa-phiopt",
    "ssa-backprop", "store-merging", "optimize-strlen", "printf-return-value", "split-loops",
    "split-paths", "split-ivs-in-unroller", "unswitch-loops", "thread-jumps",
    "hoist-adjacent-loads",
    "isolate-erroneous-paths-dereference", "aggressive-loop-optimizations", "move-loop-stores",
    "predictive-commoning", "peel-loops", "version-loops-for-strides", "stdarg-opt", "tracer",
    "guess-branch-probability", "expensive-optimizations", "allocation-dce",
    # Register allocation and instruction scheduling.
    "ira-algorithm=priority", "ira-region=all", "ira-region=mixed", "ira-hoist-pressure",
    "ira-loop-pressure", "ira-share-save-slots", "ira-share-spill-slots", "lra-remat",
    "live-range-shrinkage", "caller-saves", "omit-frame-pointer", "shrink-wrap",
    "shrink-wrap-separate", "conserve-stack", "combine-stack-adjustments", "defer-pop",
    "split-wide-types", "split-wide-types-early", "rename-registers", "web", "cprop-registers",
    "forward-propagate", "if-conversion", "if-conversion2", "gcse", "gcse-lm", "gcse-sm",
    "gcse-las", "gcse-after-reload", "rerun-cse-after-loop", "cse-follow-jumps", "crossjumping",
    "move-loop-invariants", "auto-inc-dec", "branch-count-reg", "compare-elim", "dce", "dse",
    "ree", "function-cse", "peephole", "peephole2", "schedule-insns", "schedule-insns2",
    "schedule-fusion", "sched-pressure", "sched-interblock", "sched-spec", "sched-spec-load",
    "sched-spec-insn-heuristic", "sched-critical-path-heuristic", "sched-dep-count-heuristic",
    "sched-group-heuristic", "sched-last-insn-heuristic", "sched-rank-heuristic",
    "sched-stalled-insns", "sched-stalled-insns-dep", "selective-scheduling",
    "selective-scheduling2", "modulo-sched", "modulo-sched-allow-regmoves",
    # Placement of blocks and functions.
    "reorder-blocks", "reorder-blocks-algorithm=stc", "reorder-blocks-algorithm=simple",
    "reorder-blocks-and-partition", "reorder-functions", "toplevel-reorder", "section-anchors",
    "align-functions", "align-jumps", "align-labels", "align-loops",
    "limit-function-alignment",
)  # fmt: skip
"""Names after ``-f``; those that affect sizes most come first."""

REFUSED: Mapping[str, tuple[str, ...]] = {
    "changes floating-point results": (
        "fast-math", "unsafe-math-optimizations", "associative-math", "reciprocal-math",
        "finite-math-only", "signed-zeros", "trapping-math", "math-errno", "rounding-math",
        "signaling-nans", "single-precision-constant", "float-store", "excess-precision",
        "fp-contract", "fp-int-builtin-inexact", "cx-fortran-rules", "cx-limited-range",
    ),
    "changes data layout or calling conventions that other objects rely on": (
        "pack-struct", "short-enums", "short-wchar", "reg-struct-return", "plt",
        "patchable-function-entry", "fold-simple-inlines",
    ),
    "asserts or revokes a property of the program that only its author can know": (
        "delete-null-pointer-checks", "strict-aliasing", "strict-enums", "wrapv",
        "wrapv-pointer", "trapv", "finite-loops", "lifetime-dse", "allow-store-data-races",
        "strict-volatile-bitfields", "unconstrained-commons", "nothrow-opt",
        "semantic-interposition", "isolate-erroneous-paths-attribute", "keep-gc-roots-live",
        "delete-dead-exceptions", "trivial-auto-var-init", "sched-spec-load-dangerous",
    ),
    "is needed for unwinding, exceptions or type information": (
        "exceptions", "handle-exceptions", "non-call-exceptions", "asynchronous-unwind-tables",
        "unwind-tables", "rtti", "no-threadsafe-statics",
    ),
    "is a protection that the project chose": (
        "stack-protector", "stack-protector-all", "stack-protector-explicit",
        "stack-protector-strong", "stack-clash-protection", "stack-check", "harden-compares",
        "harden-conditional-branches", "stack-reuse",
    ),
    "is needed by programs with unbounded tail recursion": ("optimize-sibling-calls",),
    "calls a library that may be missing": ("inline-atomics",),
    "starts threads": ("tree-parallelize-loops", "loop-parallelize-all"),
    "needs a profile, or patches running code": (
        "branch-probabilities", "profile-partial-training", "profile-reorder-functions", "vpt",
        "live-patching",
    ),
    "only makes code larger, or has no effect": (
        "unroll-loops", "unroll-all-loops", "unroll-completely-grow-size", "loop-interchange",
        "loop-nest-optimize", "loop-unroll-and-jam", "graphite", "graphite-identity",
        "prefetch-loop-arrays", "variable-expansion-in-unroller", "delayed-branch",
        "simd-cost-model", "vect-cost-model", "sched2-use-superblocks", "tree-vectorize",
        "sel-sched-pipelining", "sel-sched-pipelining-outer-loops",
        "sel-sched-reschedule-pipelined", "reschedule-modulo-scheduled-loops",
    ),
    "affects only messages or debuggers": (
        "opt-info", "save-optimization-record", "var-tracking", "var-tracking-assignments",
        "var-tracking-assignments-toggle", "var-tracking-uninit",
    ),
}  # fmt: skip
"""Names after ``-f`` that are never changed, grouped by reason."""

_PARAMS: Mapping[str, tuple[int, ...]] = {
    "max-inline-insns-size": (1, 2, 4, 8),
    "max-inline-insns-auto": (2, 5, 10, 30),
    "max-inline-insns-small": (1, 2, 4, 8),
    "early-inlining-insns": (0, 2, 4, 10),
    "uninlined-function-insns": (0, 4, 8),
    "max-inline-functions-called-once-insns": (100, 400, 1000),
    "max-inline-functions-called-once-loop-depth": (1, 2, 3),
    "large-function-growth": (0, 20, 300),
    "large-function-insns": (500, 1500, 10000),
    "large-stack-frame-growth": (100, 10000),
    "inline-unit-growth": (0, 10),
    "ipa-sra-ptr-growth-factor": (1, 4, 8),
    "ipa-sra-max-replacements": (1, 4, 16),
    "ipa-cp-eval-threshold": (50, 1000),
    "case-values-threshold": (3, 5, 8, 12, 20),
    "jump-table-max-growth-ratio-for-size": (100, 200, 500),
    "switch-conversion-max-branch-ratio": (2, 16, 64),
    "min-crossjump-insns": (1, 2, 3),
    "max-crossjump-edges": (1000,),
    "max-grow-copy-bb-insns": (1, 4, 16),
    "max-goto-duplication-insns": (0, 2, 4, 16),
    "max-jump-thread-duplication-stmts": (1, 5, 30),
    "max-loop-header-insns": (1, 5, 40),
    "gcse-unrestricted-cost": (0, 1, 6),
    "gcse-cost-distance-ratio": (1, 5, 20),
    "max-hoist-depth": (0, 1, 100),
    "max-tail-merge-comparisons": (100,),
    "max-tail-merge-iterations": (4,),
    "max-combine-insns": (2, 3),
    "max-cse-path-length": (1, 4, 30),
    "max-rtl-if-conversion-insns": (0, 2, 5, 20),
    "sra-max-scalarization-size-Osize": (0, 8, 32, 64),
    "iv-consider-all-candidates-bound": (5, 100),
    "iv-max-considered-uses": (2, 10, 1000),
    "lim-expensive": (1, 5, 100),
    "logical-op-non-short-circuit": (0, 1),
    "ira-loop-reserved-regs": (0, 4, 8),
    "ira-consider-dup-in-all-alts": (0, 1),
    "lra-inheritance-ebb-probability-cutoff": (0, 20, 80, 100),
    "sched-pressure-algorithm": (2,),
    "sink-frequency-threshold": (0, 50, 100),
    "store-merging-max-size": (4, 16),
    "max-stores-to-merge": (2, 16),
    "builtin-string-cmp-inline-length": (0, 8),
    "partial-inlining-entry-probability": (30, 100),
    "max-completely-peeled-insns": (0, 50),
    "max-completely-peel-times": (0, 2),
    "predictable-branch-outcome": (0, 20, 50),
    "sccvn-max-alias-queries-per-access": (10, 10000),
}
"""Parameters that only tune heuristics, with alternatives to the compiler's own values."""


def choices(
    options: Sequence[Option], states: Mapping[str, str], decided: Collection[str] = ()
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the flags and the parameters worth trying with a GCC that has `options`.

    `states` maps flags to ``enabled`` or ``disabled`` at the base level; only the opposite setting
    is a change. Options in `decided` are not changed.
    """
    by_name = {option.name: option for option in options}
    params = [
        f"--param={name}={value}"
        for name, values in _PARAMS.items()
        for value in values
        if _has(by_name.get(f"--param={name}="), f"--param={name}={value}")
    ]
    flags = _flags(by_name, states)
    return (
        tuple(flag for flag in flags if find_option(flag) not in decided),
        tuple(param for param in params if find_option(param) not in decided),
    )


@cache
def possible() -> frozenset[str]:
    """Return all flags and parameters to try with any GCC.

    >>> "-fno-gcse" in possible(), "-fplugin=x.so" in possible()
    (True, False)
    """
    flags = (f"-f{name}" for name in FLAGS)
    off = (f"-fno-{name}" for name in FLAGS if "=" not in name)
    params = (f"--param={name}={value}" for name, values in _PARAMS.items() for value in values)
    return frozenset((*LEVELS, *LINK_TIME, *SECTIONS, *flags, *off, *params))


def find_option(flag: str) -> str:
    """Return the option that `flag` sets; if two flags set the same option, the last one wins.

    >>> find_option("-fno-gcse"), find_option("--param=max-hoist-depth=1"), find_option("-Oz")
    ('-fgcse', '--param=max-hoist-depth', '-O')
    """
    if flag.startswith("-O"):
        return "-O"
    if flag.startswith("-fno-"):
        return f"-f{flag.removeprefix('-fno-')}"
    return flag.rpartition("=")[0] if "=" in flag else flag


def _flags(by_name: Mapping[str, Option], states: Mapping[str, str]) -> Iterator[str]:
    for name in FLAGS:
        word = f"-f{name}"
        if "=" in name:
            if _has(by_name.get(f"{word.partition('=')[0]}="), word):
                yield word
        elif isinstance(by_name.get(word), GccFlagOption | GccFlagAlignOption):
            if states.get(word) != "enabled":
                yield word
            if states.get(word) != "disabled":
                yield f"-fno-{name}"


def _has(option: Option | None, setting: str) -> bool:
    try:
        return option is not None and option.index(setting) >= 0
    except ValueError:
        return False
