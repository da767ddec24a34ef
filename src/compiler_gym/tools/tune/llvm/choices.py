# SPDX-License-Identifier: MIT
"""Tables of what may make a program faster, or smaller where its profile says that it is cold."""

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
"""In the order in which they are tried. None changes what machine the program needs."""


def _join(*choices: Choice) -> Choice:
    return Choice(
        tuple(word for choice in choices for word in choice.flags),
        tuple(word for choice in choices for word in choice.linker),
    )


def _hot(millionths: int) -> Choice:
    """Make small what is not among the functions of the most frequent counts, so many of all."""
    return _join(COLD, _both(f"-profile-summary-cutoff-cold={millionths}"))


COLD = Choice(("-mllvm=-pgo-cold-func-opt=minsize",))
"""Make small what the profile says is cold: by LLVM's own cutoff, the last millionth of counts."""
_LEAST = _late("-disable-lsr", "-disable-machine-licm", "-apply-ext-tsp-for-size")
_OUTLINED = _late("-enable-machine-outliner=conservative-pgo")
"""Takes sequences out of cold code alone."""
FRONT = {
    "hot-99": _join(_hot(990_000), _OUTLINED),
    "hot-all": COLD,
    "Oz": _join(Choice(("-Oz",)), _LEAST),
    "hot-90": _join(_hot(900_000), _OUTLINED),
    "hot-99.9": _join(_hot(999_000), _OUTLINED),
    "hot-99-O2": _join(Choice(("-O2",)), _hot(990_000), _OUTLINED),
    "hot-90-Os": _join(Choice(("-Os",)), _hot(900_000), _LEAST, _OUTLINED),
}
"""What a front is chosen of, besides the profile alone: how much of a profile is hot. In the order
in which they are built, as time may not do for all."""
FRONT_BASE = "hot-all"
"""The one that a search for the fastest begins with: what it makes small never runs."""


def find_option(word: str) -> str:
    """Return the option that `word` sets, for clang or by way of it for LLVM.

    >>> find_option("-Wl,-mllvm,-align-loops=32"), find_option("-O2")
    ('-align-loops', '-O2')
    """
    for prefix in ("-mllvm=", "-Wl,-mllvm,"):
        if word.startswith(prefix):
            return word.removeprefix(prefix).partition("=")[0]
    return word
