# SPDX-License-Identifier: MIT
"""The macros that GCC predefines under given options, which are all the preprocessor can see.

``-Os`` defines ``__OPTIMIZE_SIZE__``, ``-ffast-math`` another macro, and headers test for both.
Two command lines with the same macros preprocess a program identically. The macros are read from
the compiler itself, except for options that cannot affect the preprocessor.
"""

import functools
import hashlib
import re
from collections.abc import Iterable, Sequence

from compiler_gym_gcc.programs.memo import Facts

__all__ = ["change_only_compiler_macros", "digest_macros", "query", "select_preprocessor_flags"]

_PASS_FLAGS = (
    *("aggressive-loop-", "align-", "allocation-dce", "allow-store-", "auto-inc-", "bit-tests"),
    *("branch-", "btr-", "caller-saves", "code-hoisting", "combine-stack-", "compare-elim"),
    *("conserve-stack", "cprop-", "crossjumping", "cse-", "dce", "defer-pop", "delayed-branch"),
    *("delete-dead-", "devirtualize", "dse", "expensive-", "finite-loops", "forward-propagate"),
    *("function-cse", "gcse", "graphite", "guess-branch-", "harden-", "hoist-", "if-conversion"),
    *("ipa-", "ira-", "isolate-", "ivopts", "jump-tables", "lifetime-dse", "limit-function-"),
    *("live-", "loop-", "lra-", "modulo-sched", "move-loop-", "omit-frame-pointer"),
    *("optimize-", "partial-inlining", "peel-loops", "peephole", "predictive-", "prefetch-"),
    *("printf-return-value", "profile-", "rename-registers", "reorder-", "rerun-cse-"),
    *("reschedule-", "sched", "section-anchors", "sel-sched-", "selective-", "shrink-wrap"),
    *("simd-cost-model", "split-", "ssa-", "stdarg-opt", "store-merging", "thread-jumps"),
    *("toplevel-reorder", "tracer", "tree-(?!parallelize-loops)", "unroll-", "unsafe-loop-"),
    *("unswitch-", "variable-expansion-", "var-tracking", "vect-cost-model", "version-loops-"),
    *("vpt", "web"),
)
"""Prefixes of the switches of GCC's passes, which run long after preprocessing.

For all other options, including those of future versions, the compiler is run.
"""

_SILENT = re.compile(rf"-f(?:no-)?(?:{'|'.join(_PASS_FLAGS)})|--param=", re.ASCII)
_LATE_PARAMETERS = re.compile(r"--param=(?:con|de)structive-interference-size=", re.ASCII)


def select_preprocessor_flags(words: Iterable[str]) -> tuple[str, ...]:
    """Return those of `words` that can change the preprocessed program.

    >>> select_preprocessor_flags(["-Os", "-fgcse", "-fno-math-errno"])
    ('-Os', '-fno-math-errno')
    """
    return tuple(word for word in words if not _is_silent(word))


def change_only_compiler_macros(words: Iterable[str]) -> bool:
    """Return whether `words` change macros that the stand-alone preprocessor does not define.

    In GCC 12 and newer, these are ``__GCC_DESTRUCTIVE_SIZE`` and its counterpart.
    """
    return any(_LATE_PARAMETERS.match(word) for word in words)


def query(language: str, flags: Sequence[str], words: Sequence[str]) -> list[str]:
    """Return the arguments with which GCC prints its predefined macros."""
    return ["-dM", "-E", *words, "-w", *flags, "-x", language, "/dev/null"]


def digest_macros(printed: Iterable[bytes]) -> Facts:
    """Return the facts that a memo stores about the macros printed for each language."""
    return {"macros": hashlib.sha256(b"\0".join(printed)).hexdigest()}


@functools.lru_cache(maxsize=1 << 16)
def _is_silent(word: str) -> bool:
    return _SILENT.match(word) is not None
