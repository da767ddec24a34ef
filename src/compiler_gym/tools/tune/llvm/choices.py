# SPDX-License-Identifier: MIT
"""Tables of flags that may make a program faster, or make its cold code smaller."""

from compiler_gym.tools.tune import Choice

__all__ = ["CHOICES", "COLD", "FRONT", "FRONT_BASE", "find_option"]


def _both(option: str) -> Choice:
    return Choice((f"-mllvm={option}",), (f"-Wl,-mllvm,{option}",))


def _late(*options: str) -> Choice:
    return Choice((), tuple(f"-Wl,-mllvm,{option}" for option in options))


CHOICES = (
    _both("-inline-threshold=500"),
    _late("-tail-dup-pred-size=64", "-tail-dup-succ-size=64"),
    _late("-enable-ext-tsp-block-placement"),
    Choice(("-fsplit-machine-functions",), ("-Wl,-z,keep-text-section-prefix",)),
    _late("-x86-cmov-converter-force-all"),
    Choice(("-O2",)),
    _late("-align-loops=32"),
    _late("-vectorize-slp=false"),
    _both("-two-entry-phi-node-folding-threshold=1"),
    _both("-inline-threshold=1000"),
    _late("-x86-cmov-converter=false"),
    _late("-tail-dup-placement-threshold=6"),
    _late("-enable-dfa-jump-thread"),
    _late("-vectorize-loops=false"),
    _late("-unroll-threshold=600"),
    _late("-disable-lsr"),
    _late("-hot-callsite-threshold=6000"),
    _both("-enable-gvn-hoist"),
    _late("-enable-misched=false"),
    _both("-inline-threshold=100"),
    _late("-unroll-runtime=false"),
    _late("-align-all-nofallthru-blocks=5"),
    _both("-jump-threading-threshold=20"),
    _both("-enable-partial-inlining"),
)
"""Flags to try, in this order. None of them changes the CPU features that the program needs."""


def _join(*choices: Choice) -> Choice:
    return Choice(
        tuple(flag for choice in choices for flag in choice.flags),
        tuple(flag for choice in choices for flag in choice.linker),
    )


def _hot(millionths: int) -> Choice:
    """Optimise for size all functions outside the hottest `millionths` of the profile's counts."""
    return _join(COLD, _both(f"-profile-summary-cutoff-cold={millionths}"))


COLD = Choice(("-mllvm=-pgo-cold-func-opt=minsize",))
"""Optimise cold functions for size; by default LLVM considers the last millionth of counts cold."""
_LEAST = _late("-disable-lsr", "-disable-machine-licm", "-apply-ext-tsp-for-size")
_OUTLINED = _late("-enable-machine-outliner=conservative-pgo")
"""Outlines repeated instruction sequences, in cold code only."""
FRONT = {
    "hot-99": _join(_hot(990_000), _OUTLINED),
    "hot-all": COLD,
    "Oz": _join(Choice(("-Oz",)), _LEAST),
    "hot-90": _join(_hot(900_000), _OUTLINED),
    "hot-99.9": _join(_hot(999_000), _OUTLINED),
    "hot-99-O2": _join(Choice(("-O2",)), _hot(990_000), _OUTLINED),
    "hot-90-Os": _join(Choice(("-Os",)), _hot(900_000), _LEAST, _OUTLINED),
}
"""Candidates for the front besides a plain profiled build; they differ in how much of the profile
counts as hot. They are built in this order, because there may not be time for all."""
FRONT_BASE = "hot-all"
"""The start of a search for the fastest build: it only shrinks code that never runs."""


def find_option(word: str) -> str:
    """Return the option that the flag `word` sets in clang, or in LLVM via ``-mllvm``.

    >>> find_option("-Wl,-mllvm,-align-loops=32"), find_option("-O2")
    ('-align-loops', '-O2')
    """
    for prefix in ("-mllvm=", "-Wl,-mllvm,"):
        if word.startswith(prefix):
            return word.removeprefix(prefix).partition("=")[0]
    return word
